Feature: Risk

  A stated risk of the patient raises an alert. A denied risk, or the risk of another person, does not.

  @row-104 @row-107
  Scenario Outline: A plan to die is shown in the profile and announced
    Given on 2 March 2026 at 10:00, the session transcript says
      """
      Clinician: <question>
      Patient: <answer>
      """
    Then the profile shows "active_ideation"
    And `anamnesis events list --type risk.flagged.v1` shows "risk.flagged.v1"

    Examples:
      | question                         | answer                                                                         |
      | ¿En qué piensa por las noches?   | Tengo ganas de matarme y he juntado pastillas para hacerlo.                    |
      | What goes through your mind?     | I want to kill myself and I have saved up the tablets for it.                  |

  @row-104 @row-107
  Scenario Outline: A wish to die together with hoarded pills is of the highest level
    Given on 2 March 2026 at 10:00, the session transcript says
      """
      Clinician: ¿En qué piensa por las noches?
      Patient: <answer>
      """
    Then the profile shows "plan_or_means"
    And the profile shows "active_ideation"

    Examples:
      | answer                                                 |
      | Quiero suicidarme y ya tengo las pastillas guardadas.  |
      | Pienso en suicidarme. Ya tengo las pastillas guardadas. |

  @row-104
  Scenario: A denied danger is stored as denied and raises no alert
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Niega ideación suicida. Refiere tristeza desde hace una semana.
      """
    Then the memory holds
      | statement |
      | sadness   |
    And `anamnesis events list` shows "document.indexed.v1"
    And `anamnesis events list` does not show "risk.flagged.v1"

  @row-104
  Scenario: A relative's suicide is the family's and raises no alert for the patient
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Her uncle died by suicide when she was ten. She denies any suicidal thoughts. Known asthma.
      """
    Then the profile shows "family"
    And the profile shows "asthma"
    And `anamnesis events list` does not show "risk.flagged.v1"
