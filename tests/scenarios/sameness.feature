Feature: Sameness

  The same fact in other words is one memory. Another number, person, negation or time makes another memory.

  @row-96 @row-c
  Scenario: The same illness under another name is one memory with two sources
    Given on 2 March 2026, the clinical note says
      """
      Paciente con hipertensión arterial en seguimiento.
      """
    And on 9 March 2026, the clinical note says
      """
      HTA controlada. Refiere náuseas.
      """
    Then the memory holds
      | statement    | state  |
      | hypertension | active |
    And the history of "hypertension" shows "reinforced"
    And the memory does not hold
      | statement    | state      |
      | hypertension | superseded |

  @row-96 @row-c
  Scenario Outline: What differs in number, person, denial or dose is not the same fact
    Given the rule answers
      """
      {"id": "1", "rule": "same_fact", "a": "<a>", "b": "<same>"}
      {"same": true}
      """
    Then the rule answers
      """
      {"id": "2", "rule": "same_fact", "a": "<a>", "b": "<other>"}
      {"same": false}
      """

    Examples:
      | a                            | same                          | other                            |
      | enalapril 10 mg              | Enalapril 10 mg               | enalapril 20 mg                  |
      | my father has epilepsy       | mi padre tiene epilepsia      | I have epilepsy                  |
      | tiene asma                   | has asthma                    | no tiene asma                    |

  @row-c
  Scenario: The mother's illness and the patient's are two memories, and the mother's is none of the patient's
    Given on 2 March 2026, the clinical note says
      """
      Her mother has epilepsy. The patient denies epilepsy. The patient has asthma.
      """
    Then the memory holds
      | statement | experiencer | negated |
      | epilepsy  | family      | false   |
      | asthma    | patient     | false   |
    And the memory does not hold
      | statement | experiencer | negated | use      |
      | epilepsy  | patient     | false   | decision |
    And the list of contradictions does not show "epilepsy"

  @row-b
  Scenario: What may no longer serve a decision is still kept
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Refiere acúfenos desde hace tres días. Padece asma.
      """
    When on 12 March 2026, the job "expiry" runs
    Then the memory holds
      | statement | state                | use      |
      | tinnitus  | resolved_unconfirmed | history  |
      | asthma    | active               | decision |
    And the export shows "acúfenos"
