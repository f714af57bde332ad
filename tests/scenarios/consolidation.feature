Feature: Consolidation and summaries

  Recurring statements become beliefs, lasting ones become values, and each week gets a short summary.

  @row-61 @row-12
  Scenario: What recurs in three documents of several days becomes a belief that names them
    Given on 2 November 2026 at 10:00, the chat message "uno" says
      """
      Tengo dolor de cabeza.
      """
    And on 4 November 2026 at 10:00, the chat message "dos" says
      """
      Hoy me duele la cabeza.
      """
    And on 6 November 2026 at 10:00, the chat message "tres" says
      """
      Me duele mucho la cabeza esta tarde.
      """
    When on 7 November 2026 at 10:00, the job "consolidation" runs
    Then the memory holds
      | class   | kind   | statement | state  | use        | trust | confidence |
      | pattern | belief | headache  | active | hypothesis | T4    | 0.8        |
    And `anamnesis memory trace {memory of "recurrent"} --org {org} --patient {patient}` shows "chat_message, 2026-11-02"
    And `anamnesis memory trace {memory of "recurrent"} --org {org} --patient {patient}` shows "chat_message, 2026-11-06"

  @row-61
  Scenario: Two documents are not enough for a belief
    Given on 2 November 2026 at 10:00, the chat message "one" says
      """
      I have a headache.
      """
    And on 4 November 2026 at 10:00, the chat message "two" says
      """
      My head hurts today.
      """
    When on 5 November 2026 at 10:00, the job "consolidation" runs
    Then the memory holds
      | statement | class            |
      | headache  | time_bound_state |
    And the memory does not hold
      | statement | class   |
      | headache  | pattern |

  @row-61
  Scenario: Three documents of one day are not enough for a belief
    Given on 2 November 2026 at 9:00, the chat message "one" says
      """
      I feel dizzy.
      """
    And on 2 November 2026 at 13:00, the chat message "two" says
      """
      I am dizzy again after lunch.
      """
    And on 2 November 2026 at 19:00, the chat message "three" says
      """
      Still dizzy tonight.
      """
    When on 3 November 2026 at 10:00, the job "consolidation" runs
    Then the memory holds
      | statement | class            |
      | dizziness | time_bound_state |
    And the memory does not hold
      | statement | class   |
      | dizziness | pattern |

  @row-61
  Scenario: What was said with little certainty becomes no belief
    Given the next document carries
      | provenance.confidence | 0.4 |
    And on 2 November 2026 at 10:00, the chat message "uno" says
      """
      Tengo náuseas.
      """
    And the next document carries
      | provenance.confidence | 0.4 |
    And on 4 November 2026 at 10:00, the chat message "dos" says
      """
      Hoy tengo náuseas.
      """
    And the next document carries
      | provenance.confidence | 0.4 |
    And on 6 November 2026 at 10:00, the chat message "tres" says
      """
      Tengo náuseas desde el mediodía.
      """
    When on 7 November 2026 at 10:00, the job "consolidation" runs
    Then the memory holds
      | statement | class            | state  |
      | nausea    | time_bound_state | active |
    And the memory does not hold
      | statement | class   |
      | nausea    | pattern |

  @row-61
  Scenario: A belief that a person verifies becomes explicit and fit for decisions
    Given on 2 November 2026 at 10:00, the chat message "one" says
      """
      I have heartburn.
      """
    And on 4 November 2026 at 10:00, the chat message "two" says
      """
      I have heartburn after dinner.
      """
    And on 6 November 2026 at 10:00, the chat message "three" says
      """
      I have heartburn today.
      """
    And on 7 November 2026 at 10:00, the job "consolidation" runs
    And the memory holds
      | class   | statement | use        |
      | pattern | heartburn | hypothesis |
    When a clinician verifies "recurrent"
    Then the memory holds
      | statement | kind   | state      | use      | trust |
      | heartburn | belief | superseded | history  | T4    |
      | heartburn | belief | active     | decision | T1    |

  @row-61
  Scenario: A preference that five documents state over half a year becomes a value
    Given on 5 January 2026 at 10:00, the chat message "uno" says
      """
      Prefiero decidir yo misma mi tratamiento.
      """
    And on 20 February 2026 at 10:00, the chat message "dos" says
      """
      Insisto: prefiero decidir yo misma mi tratamiento.
      """
    And on 3 April 2026 at 10:00, the chat message "tres" says
      """
      Como siempre, prefiero decidir yo misma mi tratamiento.
      """
    And on 18 May 2026 at 10:00, the chat message "cuatro" says
      """
      Prefiero decidir yo misma mi tratamiento, ya lo sabe usted.
      """
    And on 10 July 2026 at 10:00, the chat message "cinco" says
      """
      Le repito que prefiero decidir yo misma mi tratamiento.
      """
    When on 11 July 2026 at 10:00, the job "consolidation" runs
    Then the memory holds
      | kind  | statement    | state  | use        | trust |
      | value | decidir yo   | active | hypothesis | T4    |

  @row-61 @row-h
  Scenario: A consolidation that runs twice writes nothing twice
    Given on 2 November 2026 at 10:00, the chat message "one" says
      """
      I have a cough.
      """
    And on 4 November 2026 at 10:00, the chat message "two" says
      """
      I have a cough today.
      """
    And on 6 November 2026 at 10:00, the chat message "three" says
      """
      I have a bad cough.
      """
    When on 7 November 2026 at 10:00, the job "consolidation" runs
    And `anamnesis job run consolidation --as-of 2026-11-07` succeeds
    And on 8 November 2026 at 10:00, the job "consolidation" runs
    Then the history of "recurrent" shows "created"
    And the memory holds
      | class   | kind   | statement | confidence |
      | pattern | belief | cough     | about 0.8  |

  @row-62
  Scenario: A summary of a week names its documents, can be found, and is a hypothesis
    Given on 2 November 2026 at 10:00, the clinical note "uno" says
      """
      Refiere insomnio y mareo. Inicia mirtazapina 15 mg por la noche.
      """
    And on 5 November 2026 at 10:00, the chat message "dos" says
      """
      Sigo con mareo. Mi objetivo es volver al trabajo en enero.
      """
    When on 10 November 2026 at 10:00, the job "summaries" runs
    Then the memory holds
      | class   | statement            | use        | trust |
      | pattern | Resumen de la semana | hypothesis | T4    |
    And the source of "Resumen de la semana" shows "clinical_note, 2026-11-02"
    And the source of "Resumen de la semana" shows "chat_message, 2026-11-05"
    And `anamnesis context --org {org} --patient {patient} --query "resumen de la semana"` shows "Resumen de la semana"

  @row-62
  Scenario: A summary can be searched by its words
    Given on 2 November 2026 at 10:00, the clinical note "one" says
      """
      Reports nausea. Started on sumatriptan 50 mg for migraine.
      """
    And on 5 November 2026 at 10:00, the chat message "two" says
      """
      I have a headache. My goal is to walk the coast path in spring.
      """
    When on 10 November 2026 at 10:00, the job "summaries" runs
    Then the memory holds
      | class   | statement           |
      | pattern | Summary of the week |
    And a search for "summary of the week with sumatriptan" finds "Summary of the week"

  @row-62
  Scenario: A week in which hardly anything was said gets no summary
    Given on 2 November 2026 at 10:00, the chat message "one" says
      """
      The bus was late.
      """
    And on 5 November 2026 at 10:00, the chat message "two" says
      """
      I bought apples. I have asthma.
      """
    When on 10 November 2026 at 10:00, the job "summaries" runs
    Then the memory holds
      | statement | state  |
      | asthma    | active |
    And the memory does not hold
      | class   |
      | pattern |

  @row-61
  Scenario Outline: A rule that a patient states as one is a belief
    Given on 2 March 2026 at 10:00, the session transcript says
      """
      Clinician: <question>
      Patient: <answer>
      """
    Then the memory holds
      | kind   | statement | state  | source.who |
      | belief | <held>    | active | patient    |

    Examples:
      | question                      | answer                                             | held                 |
      | What keeps you going?         | My rule is never to go to bed angry with anybody.  | never to go to bed   |
      | ¿Qué es importante para usted? | Mi lema es que la verdad va siempre por delante.   | la verdad va siempre |
