Feature: Kinds of memory

  Each memory has one kind: capture, episode, note, belief, value, goal, drive or relationship.

  @row-9
  Scenario: One conversation yields captures, episodes, notes, beliefs, goals and relationships
    Given on 4 May 2026 at 18:00, the session transcript "sesión" says
      """
      Patient: Me operaron de la vesícula en 2019 y tengo hipertensión.
      Patient: Mi hermana me apoya mucho con los niños.
      Patient: Mi objetivo es dejar de fumar antes del verano.
      Patient: Prefiero que me escriban por las mañanas.
      """
    Then the memory holds
      | kind         | statement            | state  |
      | raw          | Document as captured | active |
      | episode      | cholecystectomy      | active |
      | note         | hypertension         | active |
      | relationship | hermana              | active |
      | goal         | dejar de fumar       | active |
      | belief       | por las mañanas      | active |

  @row-9
  Scenario: A clinician can put down a value, a drive, a goal, a belief, an episode, a note and a relationship
    Given on 4 May 2026 at 18:00, `anamnesis memory add --kind value --text "Honesty matters most to her" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    And `anamnesis memory add --kind drive --text "Wants to be needed by the people around her" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    And `anamnesis memory add --kind belief --text "Short walks calm her" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    And `anamnesis memory add --kind episode --text "Took the lift alone for the first time" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    And `anamnesis memory add --kind note --text "Brings her notebook to every session" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    And `anamnesis memory add --kind relationship --text "Close to her aunt in Lyon" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    Then the memory holds
      | kind         | statement             | source.who | trust |
      | value        | Honesty matters most  | clinician  | T1    |
      | drive        | needed by the people  | clinician  | T1    |
      | belief       | walks calm her        | clinician  | T1    |
      | episode      | Took the lift alone   | clinician  | T1    |
      | note         | Brings her notebook   | clinician  | T1    |
      | relationship | aunt                  | clinician  | T1    |

  @row-9
  Scenario: A goal that a patient puts down is kept once
    Given on 4 May 2026 at 18:00, `anamnesis memory add --kind goal --text "Quiero volver a nadar" --org {org} --patient {patient} --by {actor} --role patient` succeeds
    Then `anamnesis memory history {memory of "volver a nadar"} --org {org} --patient {patient}` shows "created"
    And the memory holds
      | kind | statement      | state  | source.who |
      | goal | volver a nadar | active | patient    |

  @row-10
  Scenario: A capture that is promoted to an episode leads to it, and the episode leads back to the capture
    Given on 6 May 2026 at 10:00, the chat message "mensaje" says
      """
      Ayer subí por primera vez sola al ascensor y llegué hasta el sexto piso.
      """
    When on 7 May 2026 at 10:00, `anamnesis memory promote {memory of "Document as captured"} --kind episode --text "Subió sola al ascensor" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    Then the memory holds
      | kind    | statement              | state  |
      | episode | Subió sola al ascensor | active |
    And the source of "Subió sola al ascensor" shows "chat_message, 2026-05-06"
    And `anamnesis memory trace {memory of "Subió sola al ascensor"} --org {org} --patient {patient}` shows "chat_message, 2026-05-06"

  @row-10 @row-31
  Scenario: A promoted episode is seen from the episode it came from
    Given on 6 May 2026 at 10:00, `anamnesis memory add --kind episode --text "Missed the bus and did not panic" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    When on 7 May 2026 at 10:00, `anamnesis memory promote {memory of "Missed the bus"} --kind belief --text "Delays are bearable" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    Then the memory holds
      | kind    | statement           | state  |
      | episode | Missed the bus      | active |
      | belief  | Delays are bearable | active |
    And `anamnesis memory trace {memory of "Missed the bus"} --down --org {org} --patient {patient}` shows "Delays are bearable"
    And `anamnesis memory trace {memory of "Delays are bearable"} --org {org} --patient {patient}` shows "Missed the bus"

  @row-11 @row-12
  Scenario: A pattern of thought that is read into what a patient says is a hypothesis with its confidence and its sentence
    Given on 11 May 2026 at 17:00, the session transcript "session" says
      """
      Patient: I failed the exam, so I am a complete failure and everybody thinks I am stupid.
      Clinician: What would you say to a friend?
      Patient: I would tell her that I have migraine too.
      """
    Then the memory holds
      | class     | statement | use        | trust | fragment           |
      | inference | all-or-nothing thinking | hypothesis | T4 | complete failure |
    And the memory does not hold
      | class     | use      |
      | inference | decision |
    And the memory holds
      | statement | use      |
      | migraine  | decision |
    And the profile does not show "all-or-nothing"

  @row-12
  Scenario: What was inferred says how sure it is and on which sentence it rests
    Given on 11 May 2026 at 17:00, the session transcript "sesión" says
      """
      Patient: Siempre es culpa mía cuando discuten mis padres.
      """
    Then the memory holds
      | class     | statement       | use        | confidence | fragment        |
      | inference | personalization | hypothesis | 0.4        | es culpa mía    |
    And `anamnesis memory show {memory of "personalization"} --org {org} --patient {patient}` shows "es culpa mía"
    And `anamnesis memory show {memory of "personalization"} --org {org} --patient {patient}` shows "0.40 stored"

  @row-14
  Scenario: A trend of a device is shown with its device and the day it was synced
    Given on 14 May 2026 at 07:00, the device reports
      """
      {"metric": "resting_heart_rate", "unit": "bpm", "value": 88, "trend": "rising", "device": "wristband"}
      """
    Then the memory holds
      | class         | statement          | state  | source.label |
      | health_signal | resting_heart_rate | active | wristband    |
    And the context shows "88 bpm, rising"
    And the context shows "device, wristband, 2026-05-14"

  @row-58
  Scenario: A later note about an operation does not change what was recorded of it
    Given on 18 May 2026 at 10:00, the clinical note "primera" says
      """
      Operado de apendicitis en 2009.
      """
    And on 18 May 2027 at 10:00, the clinical note "segunda" says
      """
      Operado de apendicitis en 2011, según refiere.
      """
    Then the memory holds
      | class | statement          | state  |
      | event | appendectomy, 2009 | active |
      | event | appendectomy, 2011 | active |

  @row-58
  Scenario: A visit to the emergency room is still what it was ten years later
    Given on 18 May 2026 at 10:00, the clinical note "note" says
      """
      Was hospitalized for pneumonia in March 2026. Reports cough since yesterday.
      """
    When on 18 May 2036 at 10:00, the jobs run
    Then the memory holds
      | class            | statement | state                |
      | event            | hospital  | active               |
      | time_bound_state | cough     | resolved_unconfirmed |
