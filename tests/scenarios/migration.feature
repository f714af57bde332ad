@every-run
Feature: Old data

  Records of older systems are imported once, keep their kind, and are exported unchanged.

  @row-22 @row-86
  Scenario: Records of an older system keep their kind, their protection and what they were made from, and come back as they came
    Given on 3 March 2026 at 10:00, the file "old.json" holds
      """
      [{"id": "b1", "type": "belief", "statement": "Cocinar para otros la anima", "source_type": "direct_experience",
        "derived_from": ["episode:e1"], "confidence": 0.9, "created_at": "2025-03-02T10:00:00Z"},
       {"id": "e1", "type": "episode", "objective": "Cena con los vecinos", "outcome": "Se rio toda la noche",
        "source_type": "direct_experience", "created_at": "2025-03-01T10:00:00Z"},
       {"id": "g1", "type": "goal", "title": "Volver a nadar", "description": "Dos veces por semana",
        "source_type": "direct_experience", "is_protected": true, "created_at": "2025-03-03T10:00:00Z"},
       {"id": "n1", "type": "note", "statement": "Colecciona sellos", "is_active": false,
        "created_at": "2025-03-04T10:00:00Z", "source_type": "direct_experience"},
       {"foo": "bar"}]
      """
    When `anamnesis import old.json --org {org} --patient {patient} --by {actor}` fails with "4        0           1        0"
    Then the memory holds
      | kind    | statement           | trust | state  | confidence |
      | belief  | Cocinar para otros  | T3    | active | 0.9        |
      | episode | Cena con los vecinos | T3   | active | 1          |
      | goal    | Volver a nadar      | T3    | active | 1          |
    And the memory does not hold
      | statement         |
      | Colecciona sellos |
      | foo               |
    And the profile does not show "foo"
    And the source of "Cocinar para otros" shows "Cena con los vecinos"
    And a search for "sellos" does not find "sellos"
    And `anamnesis export --legacy --org {org} --patient {patient}` shows "Volver a nadar"
    When `anamnesis import old.json --org {org} --patient {patient} --by {actor}` fails with "0        4           1        0"
    Then `anamnesis export --legacy --org {org} --patient {patient}` shows "Dos veces por semana"

  @row-86
  Scenario: A record that was forgotten there is forgotten here, and what the patient says in the same words is not
    Given on 3 March 2026 at 10:00, the chat message says
      """
      Patient: I prefer long walks by the river.
      """
    And the file "old.json" holds
      """
      [{"id": "n1", "type": "note", "statement": "Collects stamps with Margarita Quispe", "source_type": "direct_experience"},
       {"id": "n2", "type": "note", "statement": "I prefer long walks by the river", "source_type": "direct_experience",
        "is_active": false}]
      """
    When `anamnesis import old.json --org {org} --patient {patient} --by {actor}` shows "2        0           0        0"
    Then the memory holds
      | statement                      | state  |
      | Collects stamps                | active |
      | I prefer long walks            | active |
    When on 4 March 2026 at 10:00, the file "old.json" holds
      """
      [{"id": "n1", "type": "note", "statement": "Collects stamps with Margarita Quispe", "source_type": "direct_experience",
        "is_active": false}]
      """
    And `anamnesis import old.json --org {org} --patient {patient} --by {actor}` shows "1        0           0        0"
    Then the memory does not hold
      | statement       |
      | Collects stamps |

  @row-6
  Scenario: A document that is left for the embedding job is found by its words before it and by its vector after it
    Given the setting "pipeline.deferred_embedding_types" is `["clinical_note"]`
    And on 3 March 2026 at 10:00, the clinical note says
      """
      Her brother repairs clocks in a small shop.
      """
    Then a search for "clocks" finds "clocks"
    And a search for "horology" does not find "clocks"
    When on 4 March 2026 at 3:00, the job "embed_batch" runs
    Then a search for "horology" finds "clocks"
