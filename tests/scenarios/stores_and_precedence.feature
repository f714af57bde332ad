Feature: Stores and precedence

  Records of the clinic take precedence over statements in conversations. For safety decisions only the records count.

  @row-116 @row-106
  Scenario: One note fills the tables of conditions, allergies, medicines and appointments
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Paciente con hipotiroidismo en tratamiento con levotiroxina 75 mcg al día.
      Alérgica al ibuprofeno: broncoespasmo.
      Próxima cita con endocrinología el 20 de marzo de 2026.
      """
    Then the memory holds
      | entity      | statement            | class           | use      | trust |
      | condition   | hypothyroidism       | long_lived_fact | decision | T1    |
      | allergy     | ibuprofen            | long_lived_fact | decision | T1    |
      | medication  | levothyroxine 75 mcg | long_lived_fact | decision | T1    |
      | appointment | endocrinology        | event           | decision | T1    |
    And the profile shows "broncoespasmo"
    And the profile shows "levothyroxine 75 mcg"
    And the profile shows "2026-03-20"

  @row-116
  Scenario: The chart of a producer is shown like that of a note, with status and code
    Given on 2 March 2026, the profile says
      """
      {"conditions": [{"name": "asthma", "code": "J45.909", "status": "active", "since": "2011"}],
       "medications": [{"name": "salbutamol", "dose": "100 mcg", "status": "active"}, {"name": "montelukast", "status": "stopped"}],
       "allergies": [{"substance": "latex", "reaction": "hives"}]}
      """
    Then the memory holds
      | entity     | statement | state    | use      |
      | condition  | asthma    | active   | decision |
      | medication | 100 mcg   | active   | decision |
      | allergy    | latex     | active   | decision |
      | medication | montelukast | resolved | history  |
    And the profile shows "J45.909"
    And the profile shows "hives"

  @row-64 @row-65
  Scenario: Every statement says from which store it comes, the chart's or the conversations'
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Diagnosed with asthma in childhood.
      """
    And on 2 March 2026 at 18:00, the chat message says
      """
      Patient: I have been feeling nauseous since this morning.
      """
    Then the memory holds
      | statement | source.section | source.document_type |
      | asthma    | clinical       | clinical_note        |
      | nausea    | conversational | chat_message         |

  @row-64
  Scenario: What only a conversation tells is in the context and not in the chart
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Paciente con asma desde la infancia.
      """
    And on 2 March 2026 at 18:00, the chat message says
      """
      Patient: Prefiero que me hablen por la mañana. Desde hoy tengo náuseas.
      """
    Then the profile shows "asthma"
    And `anamnesis context --org {org} --patient {patient}` shows "por la mañana"
    And `anamnesis profile --org {org} --patient {patient}` shows "reported in chat"
    And `anamnesis profile --org {org} --patient {patient}` does not show "por la mañana"

  @row-116 @row-107
  Scenario Outline: A symptom in the sentence after an allergy is a symptom, and the allergy stays an allergy
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      <note>
      """
    Then the memory holds
      | entity  | statement  | class            |
      | allergy | penicillin | long_lived_fact  |
      | symptom | nausea     | time_bound_state |

    Examples:
      | note                                                      |
      | Alérgica a la penicilina. Refiere náuseas desde ayer.     |
      | Allergic to penicillin. Reports nausea since yesterday.   |

  @row-116 @row-107
  Scenario Outline: A symptom in the sentence after a denied allergy is kept
    Given on 2 March 2026 at 10:00, the chat message says
      """
      Patient: <words>
      """
    Then the memory holds
      | entity  | statement  | negated |
      | allergy | penicillin | true    |
      | symptom | <symptom>  | false   |

    Examples:
      | words                                                                   | symptom  |
      | I am not allergic to penicillin. I have had a headache since yesterday. | headache |
      | No soy alérgica a la penicilina. Tengo tos seca desde ayer.             | cough    |

  @row-65 @row-114 @row-c
  Scenario: A newer, uncertain dose from a chat does not replace the dose of the chart
    Given on 2 March 2026, the profile says
      """
      {"medications": [{"name": "metoprolol", "dose": "50 mg", "status": "active"}]}
      """
    And the next document carries
      | provenance.confidence | 0.3 |
    And on 5 March 2026, the chat message says
      """
      Patient: I take metoprolol 100 mg every day.
      """
    Then `anamnesis profile --org {org} --patient {patient}` shows "metoprolol 50 mg"
    And the list of contradictions shows "metoprolol"
    And the review queue shows "metoprolol"
    And the memory holds
      | entity     | statement        | state  | use      |
      | medication | metoprolol 50 mg | active | decision |
    And the memory does not hold
      | entity     | statement         | use      |
      | medication | metoprolol 100 mg | decision |

  @row-65
  Scenario: A denial in a chat does not end the allergy of the chart
    Given on 2 March 2026, the clinical note says
      """
      Alérgica a la amoxicilina: anafilaxia en 2019.
      """
    And on 4 March 2026, the chat message says
      """
      Patient: No soy alérgica a la amoxicilina, la tomé el año pasado sin problema.
      """
    Then the memory holds
      | entity  | statement   | state  | use      | negated |
      | allergy | amoxicillin | active | decision | false   |
    And the profile shows "anafilaxia"
    And the list of contradictions shows "amoxicillin"

  @row-65
  Scenario: A clinician's newer dose replaces the older one of the chart
    Given on 2 March 2026, the clinical note says
      """
      En tratamiento con enalapril 10 mg al día.
      """
    And on 16 March 2026, the clinical note says
      """
      Se aumenta enalapril a 20 mg al día.
      """
    Then `anamnesis profile --org {org} --patient {patient}` shows "enalapril 20 mg"
    And the memory holds
      | entity     | statement       | state      | use      |
      | medication | enalapril 20 mg | active     | decision |
      | medication | enalapril 10 mg | superseded | history  |

  @row-85 @row-b
  Scenario: What an analysis supposes is kept and serves no decision, whatever it names
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Known asthma. Allergic to latex: hives.
      """
    And on 2 March 2026 at 11:00, the analysis says
      """
      The patient has bipolar disorder. Allergic to codeine.
      """
    Then the memory holds
      | entity    | statement | use        | trust |
      | condition | bipolar   | hypothesis | T4    |
      | allergy   | codeine   | hypothesis | T4    |
      | allergy   | latex     | decision   | T1    |
    And the profile shows "latex"
    And the profile does not show "codeine"
    And the profile does not show "bipolar"

  @row-85
  Scenario: A relative's word about an allergy is labelled as theirs and never as the clinic's
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Asma desde la infancia.
      """
    And on 2 March 2026 at 11:00, the chat message says
      """
      Family: Mi hija es alérgica al marisco, se le hincha la cara.
      """
    Then the memory holds
      | entity  | statement | trust | use      |
      | allergy | shellfish | T3    | decision |
    And the memory does not hold
      | entity  | statement | trust |
      | allergy | shellfish | T1    |
    And `anamnesis profile --org {org} --patient {patient}` shows "family"

  @row-85
  Scenario: In an emergency only what is safe to act on is shown, and that there is more to ask about
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Allergic to penicillin: anaphylaxis. Takes sertraline 50 mg daily.
      """
    And on 2 March 2026 at 11:00, the analysis says
      """
      The patient has bipolar disorder. Allergic to codeine.
      """
    And on 2 March 2026 at 12:00, the chat message says
      """
      Family: She is allergic to latex.
      """
    Then `anamnesis profile --org {org} --patient {patient} --emergency` shows "penicillin"
    And `anamnesis profile --org {org} --patient {patient} --emergency` shows "sertraline"
    And `anamnesis profile --org {org} --patient {patient} --emergency` does not show "bipolar"
    And `anamnesis profile --org {org} --patient {patient} --emergency` does not show "codeine"
    And `anamnesis profile --org {org} --patient {patient} --emergency` does not show "latex"
    And `anamnesis profile --org {org} --patient {patient} --emergency` shows "reported allergies without confirmation"
