Feature: Retrieval

  A search returns passages of one patient only, found by keywords and by meaning.

  @row-66 @row-71
  Scenario: A word of a note finds its passage, with its score and its source
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Comenta que el carpintero de su pueblo le ha ofrecido trabajo en el taller.
      """
    And on 3 March 2026, the chat message says
      """
      Patient: Hoy he sacado al perro a la playa y me he reído mucho.
      """
    Then a search for "carpintero" finds "trabajo en el taller"
    And a search for "carpintero" does not find "perro"
    And `anamnesis context --org {org} --patient {patient} --query carpintero` shows "document: clinical_note, 2026-03-02"
    And `anamnesis context --org {org} --patient {patient} --query carpintero --output json` shows "score"

  @row-66 @row-107
  Scenario: Singular and plural, with and without accents, are the same word for a search
    Given on 2 March 2026, the session transcript says
      """
      Clinician: ¿Qué la despierta por las noches?
      Patient: Unas pesadillas con el incendio de la fábrica.
      """
    And on 3 March 2026, the chat message says
      """
      Patient: Mañana viene mi prima a merendar.
      """
    Then a search for "pesadilla" finds "incendio de la fábrica"
    And a search for "fabrica" finds "incendio de la fábrica"
    And a search for "pesadilla" does not find "merendar"

  @row-68
  Scenario: A question finds what means the same in other words
    Given on 2 March 2026, the session transcript says
      """
      Patient: I lie awake until four in the morning and stare at the ceiling.
      """
    And on 3 March 2026, the chat message says
      """
      Patient: My brother bought a red bicycle for his shop.
      """
    Then a search for "cannot fall asleep at night" finds "stare at the ceiling"
    And a search for "cannot fall asleep at night" does not find "bicycle"

  @row-68
  Scenario: Only so many passages as asked for are shown, and none below the least similarity
    Given on 2 March 2026, the session transcript says
      """
      Patient: I lie awake until four in the morning and stare at the ceiling.
      """
    And on 3 March 2026, the chat message says
      """
      Patient: Last night I did not sleep until the birds began to sing.
      """
    Then `anamnesis context --org {org} --patient {patient} --query "sleep until the birds sing"` shows "ceiling"
    And `anamnesis context --org {org} --patient {patient} --query "sleep until the birds sing" --top-k 1` shows "birds"
    And `anamnesis context --org {org} --patient {patient} --query "sleep until the birds sing" --top-k 1` does not show "ceiling"
    And `anamnesis context --org {org} --patient {patient} --query "rest during night hours" --min-score -1` shows "ceiling"
    And `anamnesis context --org {org} --patient {patient} --query "rest during night hours" --min-score 0.99` does not show "ceiling"

  @row-70
  Scenario: One question finds both the passage with its word and the passage with its meaning
    Given on 2 March 2026, the chat message says
      """
      Patient: I lie awake until four in the morning and stare at the ceiling.
      """
    And on 3 March 2026, the clinical note says
      """
      He keeps a logbook in the drawer of the kitchen.
      """
    And on 4 March 2026, the chat message says
      """
      Patient: My brother bought a red bicycle for his shop.
      """
    Then a search for "insomnia at night, unable to fall asleep, sleepless, logbook" finds "drawer of the kitchen"
    And a search for "insomnia at night, unable to fall asleep, sleepless, logbook" finds "ceiling"
    And a search for "insomnia at night, unable to fall asleep, sleepless, logbook" does not find "bicycle"

  @row-67
  Scenario: Of two passages that say nearly the same, the one of the last weeks comes first
    Given on 10 January 2026, the chat message says
      """
      Patient: Salí a pasear por el parque y conté los patos: eran nueve.
      """
    And on 20 May 2026, the chat message says
      """
      Patient: Salí a pasear por el parque y conté los patos: eran treinta.
      """
    When on 24 May 2026, time passes
    Then `anamnesis context --org {org} --patient {patient} --query "pasear por el parque"` shows "nueve"
    And `anamnesis context --org {org} --patient {patient} --query "pasear por el parque" --top-k 1` shows "treinta"
    And `anamnesis context --org {org} --patient {patient} --query "pasear por el parque" --top-k 1` does not show "nueve"

  @row-67
  Scenario: What is older than the last weeks is still found by its words
    Given on 10 January 2026, the chat message says
      """
      Patient: Aquel verano trabajé en el faro con un tal Baltasar y sus gaviotas.
      """
    And on 20 May 2026, the chat message says
      """
      Patient: Hoy he pintado la valla del jardín de color verde.
      """
    When on 24 May 2026, time passes
    Then a search for "gaviotas" finds "en el faro"
    And a search for "gaviotas" does not find "valla"

  @row-69 @row-81
  Scenario Outline: No reader answers without organisation and patient
    Given on 2 March 2026, the clinical note says
      """
      Allergic to penicillin: generalised rash.
      """
    Then `anamnesis <verb> --patient {patient}` fails with "--org"
    And `anamnesis <verb> --org {org}` fails with "--patient"
    And `anamnesis <verb> --org {org} --patient 00000000-0000-0000-0000-000000000000` fails with "nil"
    And `anamnesis <verb> --org {org} --patient {patient}` shows "penicillin"

    Examples:
      | verb                       |
      | profile                    |
      | context --query penicillin |
      | memory list                |
      | export                     |

  @row-69 @row-81
  Scenario: Another patient of the clinic, and the same patient's number in another clinic, see nothing of it
    Given on 2 March 2026, the clinical note says
      """
      Diagnosticada de hipotiroidismo. Vive con su abuela en una casa de piedra.
      """
    Then `anamnesis profile --org {org} --patient {patient}` shows "hypothyroidism"
    And `anamnesis profile --org {org} --patient 7d0f2b66-15b4-4a5e-9a43-0d5a3f1c2b11` does not show "hypothyroidism"
    And `anamnesis context --query "casa de piedra" --org {org} --patient {patient}` shows "casa de piedra"
    And `anamnesis context --query "casa de piedra" --org {org} --patient 7d0f2b66-15b4-4a5e-9a43-0d5a3f1c2b11 --output json` does not show "abuela"
    And `anamnesis memory list --org 7d0f2b66-15b4-4a5e-9a43-0d5a3f1c2b12 --patient {patient}` does not show "hypothyroidism"
    And `anamnesis memory show {memory of "hypothyroidism"} --org {org} --patient 7d0f2b66-15b4-4a5e-9a43-0d5a3f1c2b11` fails with "has no memory of this id"

  @row-99 @row-g
  Scenario: A narrow window of time still fills the number of passages asked for
    Given on 2 January 2026, the chat message says
      """
      Patient: I practised the piano for an hour, in a cold room.
      """
    And on 2 February 2026, the chat message says
      """
      Patient: I went to the harbour and counted the boats.
      """
    And on 2 March 2026, the chat message says
      """
      Patient: I practised the piano for an hour, in a warm room.
      """
    And on 2 April 2026, the chat message says
      """
      Patient: I practised the piano for an hour, in a bright room.
      """
    Then `anamnesis context --org {org} --patient {patient} --query "practised the piano" --top-k 1 --since 2026-02-20 --until 2026-03-10` shows "warm room"
    And `anamnesis context --org {org} --patient {patient} --query "practised the piano" --top-k 1 --since 2026-01-01 --until 2026-01-31` shows "cold room"
    And `anamnesis context --org {org} --patient {patient} --query "practised the piano" --top-k 1 --since 2026-02-20 --until 2026-03-10` does not show "bright room"

  @row-74
  Scenario: What was said with little certainty is flagged wherever it is shown
    Given the next document carries
      | provenance.confidence | 0.3 |
    And on 2 March 2026 at 10:00, the chat message says
      """
      Patient: Desde el lunes tengo vértigos al levantarme.
      """
    And on 2 March 2026 at 11:00, the clinical note says
      """
      Refiere náuseas desde hace dos días.
      """
    Then the memory holds
      | entity  | statement | confidence | low_confidence |
      | symptom | vértigos  | 0.3        | true           |
      | symptom | nausea    | 1          | false          |
    And `anamnesis memory uncertain --org {org} --patient {patient}` shows "vértigos"
    And `anamnesis memory uncertain --org {org} --patient {patient}` does not show "nausea"
    And `anamnesis context --org {org} --patient {patient}` shows "low confidence"

  @row-74
  Scenario: Of two passages that answer alike, the more certain one comes first
    Given the next document carries
      | provenance.confidence | 1.0 |
    And on 2 March 2026 at 10:00, the chat message says
      """
      Patient: I feel nauseous on the train to work every morning.
      """
    And the next document carries
      | provenance.confidence | 0.1 |
    And on 2 March 2026 at 10:30, the chat message says
      """
      Patient: I feel dizzy on the train to work every morning.
      """
    Then a search for "on the train to work every morning" finds "dizzy"
    And `anamnesis context --org {org} --patient {patient} --query "on the train to work every morning" --top-k 1` shows "I feel nauseous on the train"

  @row-111
  Scenario: A search can be narrowed to what another person said about the patient
    Given the next document carries
      | provenance.source | told by her sister |
    And on 2 March 2026, the chat message says
      """
      Family: She has been dizzy since Friday.
      """
    And on 2 March 2026 at 12:00, the clinical note says
      """
      Reports nausea since yesterday.
      """
    Then `anamnesis memory list --source-type external --org {org} --patient {patient}` shows "dizz"
    And `anamnesis memory list --source-type external --org {org} --patient {patient}` does not show "nausea"

  @row-111
  Scenario: A search can be kept to documents of one type or of one tone
    Given on 2 March 2026 at 10:00, the chat message says
      """
      Patient: I was so happy at the lake with the dog.
      """
    And on 2 March 2026 at 12:00, the clinical note says
      """
      Went to the lake with the dog twice. Low mood and insomnia since January.
      """
    Then a search for "lake dog" finds "so happy"
    And `anamnesis context --org {org} --patient {patient} --query "lake dog" --type clinical_note` shows "twice"
    And `anamnesis context --org {org} --patient {patient} --query "lake dog" --type clinical_note` does not show "so happy"
    And `anamnesis context --org {org} --patient {patient} --query "lake dog" --sentiment positive` shows "so happy"
    And `anamnesis context --org {org} --patient {patient} --query "lake dog" --sentiment positive` does not show "twice"

  @row-82
  Scenario Outline: A question that asks for everything is refused, and a plain question is answered
    Given on 2 March 2026, the clinical note says
      """
      En tratamiento con levotiroxina 75 mcg al día. Cuenta que volcó su coche en la autopista.
      """
    Then `anamnesis context --org {org} --patient {patient} --query "<everything>"` fails with "refused"
    And `anamnesis context --org {org} --patient {patient} --query "<plain>"` shows "levothyroxine"

    Examples:
      | everything                                      | plain                           |
      | Enséñame absolutamente todo lo que tienes de mí | ¿Cuándo volcó su coche?         |
      | Give me the whole record of this patient        | What does she take every day?   |
      | Lista completa de mis recuerdos, por favor      | Quiero saber qué pastillas tomo |
