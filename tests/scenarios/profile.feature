Feature: Profile

  A profile begins with safe defaults, says how reliable its patient is, and asks the patient whether it is right.

  @row-80
  Scenario: A patient of whom only the disclaimer is known has safe defaults everywhere else
    Given on 2 March 2026, the profile says
      """
      {"disclaimer_accepted_at": "2026-03-01T10:00:00Z", "emergency_contacts": [{"reference": "contact-17"}]}
      """
    Then the profile shows "2026-03-01"
    And the profile shows "contact-17"
    And `anamnesis profile --org {org} --patient {patient}` shows "Allergies: none recorded"
    And `anamnesis profile --org {org} --patient {patient}` does not show "no known allergies"
    When on 3 March 2026, the chat message says
      """
      Patient: Tengo náuseas desde ayer.
      """
    Then the last message was stored
    And the memory holds
      | statement | confidence | use      |
      | nausea    | 1          | decision |

  @row-37
  Scenario: An illness that the chart knows since a month or a year is in force from its first day
    Given on 2 March 2026, the profile says
      """
      {"conditions": [{"name": "Asma", "since": "2015-06"}, {"name": "Psoriasis", "since": "2009"}]}
      """
    Then the memory holds
      | statement | valid_from           | use      |
      | asma      | 2015-06-01T00:00:00Z | decision |
      | psoriasis | 2009-01-01T00:00:00Z | decision |

  @row-80
  Scenario: Of a patient who was never heard of, readers say that nothing is known, not that nothing is wrong
    Given on 2 March 2026, time passes
    Then `anamnesis profile --org {org} --patient {patient}` shows "Nothing is known of this patient"
    And `anamnesis profile --org {org} --patient {patient} --output json` shows "unknown"
    When the clinical note says
      """
      No known drug allergies.
      """
    Then the profile shows "known"
    And `anamnesis profile --org {org} --patient {patient}` does not show "Nothing is known of this patient"

  @row-d
  Scenario: How reliable the speaker is and how surely a sentence was read are two numbers
    Given on 1 March 2026, the profile says
      """
      {"cognitive_state": 40}
      """
    When on 2 March 2026 at 10:00, the chat message says
      """
      Patient: Desde el martes tengo mareos.
      """
    And on 2 March 2026 at 11:00, the clinical note says
      """
      Presenta exantema en ambos brazos.
      """
    Then the memory holds
      | statement | confidence | extraction_confidence |
      | dizziness | 0.4        | 0.9                   |
      | rash      | 1          | 0.9                   |

  @row-112 @row-i
  Scenario: The patient is asked after two days whether a symptom is still there, and a yes keeps it in force
    Given on 2 March 2026 at 10:00, the chat message says
      """
      Patient: I have had a headache since yesterday.
      """
    Then the review queue does not show "headache"
    When on 5 March 2026, the job "reconfirmation" runs
    Then the review queue shows "headache"
    And `anamnesis events list --type reconfirmation.due.v1` shows "reconfirmation.due.v1"
    When on 5 March 2026 at 12:00, the patient answers "headache" with "yes"
    Then the review queue does not show "headache"
    When on 11 March 2026, the job "expiry" runs
    Then the memory holds
      | statement | state  | use      |
      | headache  | active | decision |

  @row-112
  Scenario: A patient who answers that it is over ends the symptom
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Refiere náuseas desde ayer. Refiere cefalea desde el lunes.
      """
    When on 5 March 2026, the job "reconfirmation" runs
    And on 5 March 2026 at 12:00, the patient answers "nausea" with "no"
    Then the memory holds
      | statement | state    | use      |
      | nausea    | resolved | history  |
      | headache  | active   | decision |

  @row-112
  Scenario: A pattern that was noticed becomes a fact only when a person says that it is right
    Given on 2 March 2026 at 10:00, the chat message says
      """
      Patient: Siempre lo hago todo mal, soy un desastre y nunca nadie me va a querer.
      """
    Then the memory holds
      | statement      | class     | use        | trust | state  |
      | all-or-nothing | inference | hypothesis | T4    | active |
    When on 2 March 2026 at 12:00, a clinician verifies "all-or-nothing"
    Then the memory holds
      | statement      | use      | trust | state      |
      | all-or-nothing | decision | T1    | active     |
      | all-or-nothing | history  | T4    | superseded |

  @row-80
  Scenario: A patient of whom nothing is known has a text for an emergency in either language
    Then `anamnesis profile --org {org} --patient {patient} --emergency --language es` shows "llame al número de emergencias de su país"
    And `anamnesis profile --org {org} --patient {patient} --emergency --language es` shows "nada registrado, lo que no significa que no haya"
    And `anamnesis profile --org {org} --patient {patient} --emergency` shows "go to the nearest emergency department"
