@every-run
Feature: Asking again, expiring and becoming outdated

  The patient is asked about symptoms after two days. Inferences hold for a day, trends for a week, facts and events permanently.

  @row-53
  Scenario: A symptom keeps the day on which it was confirmed and the day on which it lapses
    Given on 5 October 2026 at 10:00, the clinical note "note" says
      """
      Reports nausea since yesterday. Known celiac disease.
      """
    Then `anamnesis memory show {memory of "nausea"} --org {org} --patient {patient}` shows "2026-10-12T10:00:00"
    And `anamnesis memory show {memory of "nausea"} --org {org} --patient {patient}` shows "last confirmed"
    And `anamnesis memory show {memory of "celiac"} --org {org} --patient {patient}` does not show "expires"
    When on 7 October 2026 at 10:00, a clinician confirms "nausea"
    Then `anamnesis memory show {memory of "nausea"} --org {org} --patient {patient}` shows "2026-10-14T10:00:00"

  @row-54
  Scenario: After two days a task asks whether a symptom still holds, and not a minute earlier
    Given on 5 October 2026 at 10:00, the clinical note "nota" says
      """
      Refiere mareo desde esta mañana. Hipertensión conocida.
      """
    When on 7 October 2026 at 9:59, time passes
    Then the review queue does not show "dizziness"
    When on 7 October 2026 at 10:00, time passes
    Then the review queue shows "dizziness"
    And the review queue does not show "hypertension"

  @row-54 @row-i
  Scenario: A confirmation answers the question, and two days later it is asked again
    Given on 5 October 2026 at 10:00, the clinical note "note" says
      """
      Complains of heartburn after meals.
      """
    When on 8 October 2026 at 10:00, a clinician confirms "heartburn"
    Then the review queue does not show "heartburn"
    And the memory holds
      | statement | state  | use      |
      | heartburn | active | decision |
    When on 10 October 2026 at 10:00, time passes
    Then the review queue shows "heartburn"
    When on 13 October 2026 at 10:00, time passes
    Then the memory holds
      | statement | state  |
      | heartburn | active |

  @row-54 @row-i
  Scenario: One task of reconfirmation goes out for a symptom, however often the job runs
    Given on 5 October 2026 at 10:00, the clinical note "nota" says
      """
      Refiere palpitaciones desde ayer.
      """
    Then on 8 October 2026 at 8:00, `anamnesis job run reconfirmation` shows "done      1"
    And `anamnesis events list` shows "reconfirmation.due.v1"
    When on 9 October 2026 at 8:00, time passes
    Then `anamnesis job run reconfirmation` shows "done      0"
    And the review queue shows "palpitations"

  @row-55
  Scenario: A symptom that comes back after its week is a new interval, and the old one stays
    Given on 5 October 2026 at 10:00, the clinical note "uno" says
      """
      Refiere diarrea desde hace dos días.
      """
    When on 19 October 2026 at 10:00, the clinical note "dos" says
      """
      Refiere diarrea desde ayer.
      """
    Then the memory holds
      | statement | state                | use      | valid_from           |
      | diarrhea  | resolved_unconfirmed | history  | 2026-10-05T10:00:00Z |
      | diarrhea  | active               | decision | 2026-10-19T10:00:00Z |

  @row-55
  Scenario: A symptom that is said to be over is resolved, and a fact of the same note stays active
    Given on 5 October 2026 at 10:00, the clinical note "one" says
      """
      Reports cough since Friday. Known asthma.
      """
    When on 6 October 2026 at 10:00, a clinician ends "cough"
    Then the memory holds
      | statement | state    | use      |
      | cough     | resolved | history  |
      | asthma    | active   | decision |

  @row-56
  Scenario: What was read into a sentence is gone from use a day later, and what was said is not
    Given on 5 October 2026 at 18:00, the session transcript "sesión" says
      """
      Patient: Soy un fracaso. Tengo psoriasis desde niña.
      """
    When on 6 October 2026 at 17:59, time passes
    Then the memory holds
      | class     | statement | state  | use        |
      | inference | labeling  | active | hypothesis |
    When on 6 October 2026 at 18:00, time passes
    Then the memory holds
      | statement | state   | use      |
      | labeling  | expired | history  |
      | psoriasis | active  | decision |
    And the context does not show "labeling"

  @row-2 @row-56
  Scenario: What a model states about a patient lives for a day at most
    Given on 5 October 2026 at 18:00, the analysis "analysis" says
      """
      She has generalized anxiety disorder and takes escitalopram 10 mg.
      """
    And on 5 October 2026 at 18:30, the clinical note "note" says
      """
      Takes bupropion 150 mg daily.
      """
    When on 6 October 2026 at 18:00, time passes
    Then the memory holds
      | statement    | state   | use      |
      | anxiety      | expired | history  |
      | escitalopram | expired | history  |
      | bupropion    | active  | decision |

  @row-2
  Scenario: What a model states never ends or replaces what a clinician wrote
    Given on 5 October 2026 at 10:00, the clinical note "nota" says
      """
      Toma venlafaxina 75 mg al día. Alérgica a la codeína.
      """
    When on 5 October 2026 at 18:00, the analysis "análisis" says
      """
      La paciente toma venlafaxina 150 mg al día. No es alérgica a la codeína.
      """
    Then the memory holds
      | statement         | state  | use      | source.who |
      | venlafaxine 75 mg | active | decision | clinician  |
      | codeine           | active | decision | clinician  |
    And the profile shows "venlafaxine 75 mg"

  @row-57
  Scenario: A trend that no device has refreshed for a week is a mere hypothesis, and a refresh makes it current
    Given on 5 October 2026 at 8:00, the device reports
      """
      {"metric": "sleep_hours", "unit": "h", "value": 5.2, "trend": "falling", "device": "ring"}
      """
    When on 12 October 2026 at 7:59, time passes
    Then the memory holds
      | statement   | state  |
      | sleep_hours | active |
    When on 12 October 2026 at 8:00, time passes
    Then the memory holds
      | statement   | state | use        |
      | sleep_hours | stale | hypothesis |
    When on 13 October 2026 at 8:00, the device reports
      """
      {"metric": "sleep_hours", "unit": "h", "value": 7.1, "trend": "rising", "device": "ring"}
      """
    Then the memory holds
      | statement | state  | use      |
      | 7.1 h     | active | decision |

  @row-52 @row-59
  Scenario: A medicine with a last day is history from the day after, and no task asks about it
    Given on 2 March 2026 at 10:00, the clinical note "nota" says
      """
      Toma amoxicilina 500 mg cada 8 horas hasta el 9 de marzo. Continúa con enalapril 10 mg al día.
      """
    When on 9 March 2026 at 20:00, time passes
    Then the memory holds
      | statement  | state  | use      |
      | amoxicilli | active | decision |
      | enalapril  | active | decision |
    When on 10 March 2026 at 10:00, time passes
    Then the memory holds
      | statement  | state                | use      |
      | amoxicilli | resolved_unconfirmed | history  |
      | enalapril  | active               | decision |
    When on 2 March 2027 at 10:00, the job "purge" runs
    Then the memory holds
      | statement  | state                | use      |
      | amoxicilli | resolved_unconfirmed | history  |

  @row-52 @row-59
  Scenario: A later note moves the last day of a medicine, and one that names no day leaves it
    Given on 2 March 2026 at 10:00, the clinical note "first" says
      """
      Started prednisone 20 mg daily until 12 March 2026.
      """
    And on 6 March 2026 at 10:00, the clinical note "second" says
      """
      Taking prednisone 20 mg daily. Sleeps well.
      """
    When on 8 March 2026 at 10:00, the clinical note "third" says
      """
      Continue prednisone 20 mg daily until 20 March 2026.
      """
    And on 15 March 2026 at 10:00, time passes
    Then the memory holds
      | statement  | state  | use      |
      | prednisone | active | decision |
    When on 21 March 2026 at 10:00, time passes
    Then the memory holds
      | statement  | state                | use     |
      | prednisone | resolved_unconfirmed | history |

  @row-52 @row-59
  Scenario: A last day that one sentence of a letter names holds where its list only names the medicine
    Given on 20 November 2026 at 10:00, the uploaded document says
      """
      I started cefalexin 500 mg twice daily, which she is to take until 27 November. No rash.
      Current medicines:
      Cefalexin as above
      Ramipril 5 mg once daily
      """
    When on 27 November 2026 at 20:00, time passes
    Then the memory holds
      | statement  | state  | use      |
      | cephalexin | active | decision |
    When on 28 November 2026 at 10:00, time passes
    Then the memory holds
      | statement  | state                | use      |
      | cephalexin | resolved_unconfirmed | history  |
      | ramipril   | active               | decision |

  @row-52 @row-59
  Scenario: A last day that the patient names does not end what a clinician prescribed
    Given on 2 March 2026 at 10:00, the clinical note "note" says
      """
      Takes warfarin 5 mg daily.
      """
    And on 3 March 2026 at 10:00, the chat message "message" says
      """
      Patient: I take warfarin 5 mg daily until 10 March 2026.
      """
    When on 20 March 2026 at 10:00, time passes
    Then the memory holds
      | statement | state  | use      |
      | warfarin  | active | decision |

  @row-52 @row-58
  Scenario: An allergy, a diagnosis and an operation hold after ten years, without anybody's confirmation
    Given on 5 October 2026 at 10:00, the intake form "form" says
      """
      Allergic to shellfish. Type 1 diabetes since childhood. Appendectomy in 2003.
      """
    When on 5 October 2036 at 10:00, the jobs run
    Then the memory holds
      | statement    | state  | use      |
      | shellfish    | active | decision |
      | diabetes     | active | decision |
      | appendectomy | active | decision |
    And the profile shows "shellfish"

  @row-59
  Scenario: Every reader sees that a symptom has lapsed although no job has run
    Given on 5 October 2026 at 10:00, the clinical note "nota" says
      """
      Refiere dolor lumbar desde el sábado. Toma paracetamol 1 g cada 8 horas.
      """
    When on 12 October 2026 at 10:00, time passes
    Then the memory holds
      | statement     | state                | use      |
      | back pain     | resolved_unconfirmed | history  |
      | acetaminophen | active               | decision |
    And the profile shows "acetaminophen"
    And the profile shows "resolved_unconfirmed"
    And the review queue does not show "back pain"

  @row-59 @row-h
  Scenario: A job that runs late leaves what readers have seen since the hour itself
    Given on 5 October 2026 at 10:00, the clinical note "note" says
      """
      Reports dizziness since this morning. Known epilepsy.
      """
    When on 20 October 2026 at 10:00, the job "expiry" runs
    Then the memory holds
      | statement | state                | use      |
      | dizziness | resolved_unconfirmed | history  |
      | epilepsy  | active               | decision |
    And the history of "dizziness" shows "2026-10-12T10:00:00Z"

  @row-60
  Scenario: A search can be kept to a period
    Given on 5 October 2026 at 10:00, the session transcript "uno" says
      """
      Patient: Esta semana discutí con mi jefa por las vacaciones.
      """
    And on 9 November 2026 at 10:00, the session transcript "dos" says
      """
      Patient: Esta semana discutí con mi jefa por el teletrabajo.
      """
    Then `anamnesis context --org {org} --patient {patient} --query "discusión con la jefa" --since 2026-11-01` shows "por el teletrabajo"
    And `anamnesis context --org {org} --patient {patient} --query "discusión con la jefa" --since 2026-11-01` does not show "por las vacaciones"
    And `anamnesis context --org {org} --patient {patient} --query "discusión con la jefa" --until 2026-10-31` shows "por las vacaciones"
    And `anamnesis context --org {org} --patient {patient} --query "discusión con la jefa" --until 2026-10-31` does not show "por el teletrabajo"
