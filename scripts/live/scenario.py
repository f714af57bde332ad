"""The day of scripts/day.py: its clock, its organisations and what each of them sends at which hour, and when something happens."""

import datetime
import zoneinfo

from .messages import Organization

FACTOR = 24
WORKERS = ["worker-0", "worker-1", "worker-2"]
HOME = zoneinfo.ZoneInfo("Europe/Madrid")
# A Tuesday, midnight in Madrid.
START = datetime.datetime(2026, 10, 6, tzinfo=HOME).timestamp()
ORGS = [
    Organization("madrid", "Europe/Madrid", "es", 60),
    Organization("mexico", "America/Mexico_City", "es", 40),
    Organization("leeds", "Europe/London", "en", 50),
    Organization("boston", "America/New_York", "en", 40),
]
# Where in the run an incident begins, and how many minutes of the day it lasts.
INCIDENTS = {"forbidden producer": 0.30, "rolling deploy": 0.45, "provider outage": 0.62, "broker restart": 0.75, "deadly message": 0.85}
OUTAGE = 25 * 60
# A job counts as missed that is not done so long after its local hour.
GRACE = 30 * 60
SETTINGS = f"""
[worker]
spool = ""
store_stats_interval_seconds = {300 // FACTOR}
[audit]
seal_seconds = 5
"""


def bump(hour, centre, width, height):
    distance = min(abs(hour - centre), 24 - abs(hour - centre))
    return height * max(0.0, 1 - distance / width)


def clinic(hour):
    """Notes around noon and in the late afternoon, sessions from nine to eight, little at night."""
    day = 1.0 if 8.5 <= hour < 20 else 0.04
    notes = bump(hour, 12, 3, 240) + bump(hour, 18, 2.5, 180)
    return {"clinical_note": notes + 4 * day, "session_transcript": 70 * day, "intake_form": 12 * day, "analysis": 10 * day, "uploaded_document": 8 * day,
            "chat": 50 * day + bump(hour, 21, 2, 120), "signal": 20, "command": 8 * day, "profile": 5 * day, "consent": 4 * day}


def chats(hour):
    """Bursts of chat at breakfast, lunch and in the evening."""
    return {"chat": 25 + bump(hour, 8, 1, 350) + bump(hour, 13, 1, 450) + bump(hour, 21, 2.5, 650), "signal": 60, "command": 12, "consent": 4,
            "clinical_note": 25 if 9 <= hour < 18 else 0, "profile": 4}


def hospital(hour):
    """An export of notes and uploads in the evening, a few sessions by day."""
    return {"clinical_note": bump(hour, 22, 1.5, 800) + (40 if 8 <= hour < 17 else 3), "uploaded_document": bump(hour, 22.5, 1, 150),
            "session_transcript": 45 if 8 <= hour < 18 else 0, "chat": 25 if 7 <= hour < 23 else 5, "signal": 20, "profile": 6 if 8 <= hour < 17 else 0,
            "command": 5}


SHAPES = {"madrid": clinic, "mexico": clinic, "leeds": chats, "boston": hospital}
