Feature: Summaries and what is derived

  A derived memory is never trusted more than the memories that it is derived from.

  @row-100
  Scenario: A week is summed up from its documents, and the summary is a hypothesis that names its sources
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Refiere insomnio y náuseas. Toma sertralina 50 mg al día.
      """
    And on 4 March 2026 at 10:00, the clinical note says
      """
      Refiere cefalea. Diagnosticada de hipotiroidismo.
      """
    When on 10 March 2026, the job "summaries" runs
    Then the memory holds
      | statement            | trust | use        |
      | Resumen de la semana | T4    | hypothesis |
      | sertraline           | T1    | decision   |
    And the source of "Resumen de la semana" shows "clinical_note, 2026-03-02"
    And the source of "Resumen de la semana" shows "clinical_note, 2026-03-04"

  @row-100
  Scenario: What a clinician writes down from an analysis is no more trusted than the analysis
    Given on 2 March 2026 at 10:00, the analysis says
      """
      The patient has bipolar disorder.
      """
    Then the memory holds
      | statement | trust |
      | bipolar   | T4    |
    When on 2 March 2026 at 11:00, `anamnesis memory add --text "Mood swings, likely cyclothymic" --derived-from {memory of "bipolar"} --by {actor} --role clinician --org {org} --patient {patient}` succeeds
    Then the memory holds
      | statement   | trust | use        |
      | cyclothymic | T4    | hypothesis |

  @row-100
  Scenario Outline: No field of a message makes an analysis more than an inference
    Given the next document carries
      | provenance.source_type | <claimed> |
    And on 2 March 2026 at 10:00, the analysis says
      """
      Probable trastorno bipolar. Alérgica a la codeína.
      """
    And on 2 March 2026 at 11:00, the clinical note says
      """
      Alérgica al látex: urticaria.
      """
    Then the memory holds
      | statement | trust | use        |
      | codeine   | T4    | hypothesis |
      | latex     | T1    | decision   |

    Examples:
      | claimed           |
      | direct_experience |
      | external          |

  @row-100
  Scenario: What comes from another person is external, also when a clinician writes it down
    Given the next document carries
      | provenance.source | told by her neighbour |
    And on 2 March 2026 at 10:00, the clinical note says
      """
      Allergic to latex.
      """
    And on 2 March 2026 at 11:00, the clinical note says
      """
      Known asthma.
      """
    Then the memory holds
      | statement | trust |
      | latex     | T3    |
      | asthma    | T1    |

  @row-75
  Scenario: A single patient never becomes a pattern of the clinic
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Diagnosticada de endometriosis.
      """
    When on 5 April 2026, the job "cohort_patterns" runs
    Then `anamnesis report cohort --org {org}` shows "No month has enough patients"
    And the memory holds
      | statement     |
      | endometriosis |
