Feature: Confidence

  How reliable a statement is: when it is made, as time passes, and after a person has reviewed it.

  @row-20
  Scenario: A confidence that the producer gives is kept as given, nought included
    Given the next document carries
      | provenance.confidence | 0.0 |
    And on 6 July 2026 at 10:00, the chat message "first" says
      """
      I have migraine.
      """
    And the next document carries
      | provenance.confidence | 0.55 |
    And on 6 July 2026 at 10:05, the chat message "second" says
      """
      I have psoriasis.
      """
    And on 6 July 2026 at 10:10, the chat message "third" says
      """
      I have asthma.
      """
    Then the memory holds
      | statement | confidence |
      | migraine  | 0          |
      | psoriasis | 0.55       |
      | asthma    | 1          |

  @row-20
  Scenario: A proxy comes before a given value, and a given value before the cognitive state
    Then the rule answers
      """
      {"rule": "initial_confidence", "is_proxy": true, "confidence": 0.2, "cognitive_state": 15}
      {"confidence": 1.0, "basis": "proxy"}
      """
    And the rule answers
      """
      {"rule": "initial_confidence", "confidence": 0.2, "cognitive_state": 15}
      {"confidence": 0.2}
      """
    And the rule answers
      """
      {"rule": "initial_confidence", "cognitive_state": 15}
      {"confidence": 0.15}
      """
    And the rule answers
      """
      {"rule": "initial_confidence"}
      {"confidence": 1.0}
      """

  @row-20
  Scenario: A statement without a source and without a given value starts at full confidence
    Given the next document carries
      | provenance.source_type | unknown |
    And on 6 July 2026 at 10:00, the clinical note "note" says
      """
      Has glaucoma.
      """
    Then the memory holds
      | statement | trust | confidence |
      | glaucoma  | T5    | 1          |

  @row-21
  Scenario: What a patient says in a confused state weighs less
    Given the next document carries
      | provenance.cognitive_state | 35 |
    And on 6 July 2026 at 10:00, the chat message "uno" says
      """
      Tengo asma.
      """
    And the next document carries
      | provenance.cognitive_state | 90 |
    And on 7 July 2026 at 10:00, the chat message "dos" says
      """
      Tengo celiaquía.
      """
    Then the memory holds
      | statement | confidence |
      | asthma    | 0.35       |
      | celiac    | 0.9        |

  @row-21
  Scenario: A patient's cognitive state does not weigh on what the clinician writes
    Given the next document carries
      | provenance.cognitive_state | 35 |
    And on 6 July 2026 at 10:00, the clinical note "note" says
      """
      Known hypertension, takes ramipril 5 mg daily.
      """
    Then the memory holds
      | statement    | trust | confidence |
      | hypertension | T1    | 1          |
      | ramipril     | T1    | 1          |

  @row-21
  Scenario: The cognitive state of the profile weighs on what the patient says afterwards
    Given on 6 July 2026 at 10:00, the profile says
      """
      {"cognitive_state": 40}
      """
    And on 6 July 2026 at 12:00, the chat message "mensaje" says
      """
      Soy alérgica al melocotón. Tengo rosácea.
      """
    And on 6 July 2026 at 13:00, the clinical note "nota" says
      """
      Presenta hipercolesterolemia.
      """
    Then the memory holds
      | statement            | confidence |
      | rosacea              | 0.4        |
      | hypercholesterolemia | 1          |

  @row-33
  Scenario: The history of a belief tells each change of its confidence and what caused it
    Given the next document carries
      | provenance.confidence | 0.6 |
    And on 6 July 2026 at 10:00, the chat message "message" says
      """
      I prefer written instructions.
      """
    When on 8 July 2026 at 10:00, a clinician verifies "written instructions"
    Then `anamnesis memory history {memory of "written instructions"} --org {org} --patient {patient}` shows "0.60     0.70"
    And the history of "written instructions" shows "verified"
    And the history of "written instructions" shows "evidence_id"

  @row-34
  Scenario: A verification adds a tenth to the confidence, up to one, and is counted
    Given the next document carries
      | provenance.confidence | 0.85 |
    And on 6 July 2026 at 10:00, the chat message "mensaje" says
      """
      Tengo urticaria crónica.
      """
    When a clinician verifies "urticaria"
    Then the memory holds
      | statement | confidence |
      | urticaria | 0.95       |
    And `anamnesis memory source {memory of "urticaria"} --org {org} --patient {patient}` shows "reinforced, verified   0, 1"
    When on 7 July 2026 at 10:00, a clinician verifies "urticaria"
    Then the memory holds
      | statement | confidence |
      | urticaria | 1          |
    And `anamnesis memory source {memory of "urticaria"} --org {org} --patient {patient}` shows "reinforced, verified   0, 2"

  @row-48
  Scenario: A preference without confirmation loses a hundredth of its confidence a month, and an allergy does not
    Given on 1 January 2026 at 10:00, the chat message "message" says
      """
      I prefer group sessions. I am allergic to walnuts.
      """
    When on 31 January 2026 at 10:00, time passes
    Then the memory holds
      | statement      | confidence |
      | group sessions | 0.99       |
    When on 28 October 2026 at 10:00, time passes
    Then the memory holds
      | statement      | confidence |
      | group sessions | 0.9        |
      | walnut         | 1          |

  @row-48
  Scenario: Each kind of memory fades by its own rate and stops at its own floor
    Then the rule answers
      """
      {"rule": "effective_confidence", "kind": "note", "stored": 0.8, "days": 300, "protected": false}
      {"effective": 0.65}
      """
    And the rule answers
      """
      {"rule": "effective_confidence", "kind": "drive", "stored": 0.95, "days": 6000, "protected": false}
      {"effective": 0.6}
      """
    And the rule answers
      """
      {"rule": "effective_confidence", "kind": "value", "stored": 0.95, "days": 600, "protected": false}
      {"effective": 0.9}
      """
    And the rule answers
      """
      {"rule": "effective_confidence", "kind": "episode", "stored": 0.45, "days": 6000, "protected": false}
      {"effective": 0.45}
      """
    And the rule answers
      """
      {"rule": "effective_confidence", "kind": "belief", "stored": 0.7, "days": 0.5, "protected": false}
      {"effective": 0.7}
      """

  @row-49
  Scenario: What a clinician protects does not fade, while its neighbour does
    Given on 1 January 2026 at 10:00, the chat message "mensaje" says
      """
      Prefiero que me traten de usted. Prefiero que no me llamen al trabajo.
      """
    When on 2 January 2026 at 10:00, a clinician protects "de usted"
    And on 28 October 2026 at 10:00, time passes
    Then the memory holds
      | statement  | confidence |
      | de usted   | 1          |
      | al trabajo | 0.9        |

  @row-50
  Scenario: A verification begins the clock of fading anew
    Given the next document carries
      | provenance.confidence | 0.7 |
    And on 1 January 2026 at 10:00, the chat message "message" says
      """
      I prefer appointments by video. I prefer a female doctor.
      """
    When on 28 October 2026 at 10:00, a clinician verifies "by video"
    And on 27 November 2026 at 10:00, time passes
    Then the memory holds
      | statement     | confidence |
      | female doctor | 0.59       |
      | by video      | 0.79       |

  @row-50
  Scenario: Something that speaks for a belief begins the clock of fading anew
    Given the next document carries
      | provenance.confidence | 0.7 |
    And on 1 January 2026 at 10:00, the chat message "mensaje" says
      """
      Prefiero las citas por la mañana.
      """
    And on 28 October 2026 at 10:00, `anamnesis memory add --kind episode --text "Vino puntual a las nueve" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    When `anamnesis memory reinforce {memory of "citas por la mañana"} --derived-from {memory of "puntual"} --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    Then the memory holds
      | statement           | confidence  |
      | citas por la mañana | about 0.745 |

  @row-39 @row-51
  Scenario: Statements below the threshold are listed as uncertain, and others are not
    Given the next document carries
      | provenance.confidence | 0.3 |
    And on 6 July 2026 at 10:00, the chat message "uno" says
      """
      Creo que tengo gota.
      """
    And the next document carries
      | provenance.confidence | 0.7 |
    And on 6 July 2026 at 10:05, the chat message "dos" says
      """
      Tengo psoriasis.
      """
    Then `anamnesis memory uncertain --org {org} --patient {patient}` shows "gout"
    And `anamnesis memory uncertain --org {org} --patient {patient}` shows "given_by_the_source"
    And `anamnesis memory uncertain --org {org} --patient {patient}` does not show "psoriasis"
    And `anamnesis memory uncertain --threshold 0.75 --org {org} --patient {patient}` shows "psoriasis"

  @row-51
  Scenario: What decay has brought to the threshold is uncertain, and what was given at the threshold is not
    Given the next document carries
      | provenance.confidence | 0.55 |
    And on 1 January 2026 at 10:00, the chat message "first" says
      """
      I prefer long sessions.
      """
    When on 1 January 2027 at 10:00, the next document carries
      | provenance.confidence | 0.5 |
    And the chat message "second" says
      """
      I prefer a quiet waiting room.
      """
    And on 2 January 2027 at 08:00, the job "decay" runs
    Then `anamnesis memory uncertain --org {org} --patient {patient}` shows "long sessions"
    And `anamnesis memory uncertain --org {org} --patient {patient}` does not show "quiet waiting room"
    And the review queue shows "long sessions"

  @row-63
  Scenario: A fall of a patient's confidence below its baseline raises an alert with its course
    Given the next document carries
      | provenance.confidence | 0.9 |
    And on 1 August 2026 at 10:00, the chat message "d1" says
      """
      I have asthma. I sleep badly. I take cetirizine 10 mg daily.
      """
    And the next document carries
      | provenance.confidence | 0.9 |
    And on 5 August 2026 at 10:00, the chat message "d2" says
      """
      I have migraine. I feel dizzy today.
      """
    And the next document carries
      | provenance.confidence | 0.9 |
    And on 9 August 2026 at 10:00, the chat message "d3" says
      """
      I have psoriasis. My knee hurts.
      """
    And the next document carries
      | provenance.confidence | 0.9 |
    And on 13 August 2026 at 10:00, the chat message "d4" says
      """
      I have gout. I have heartburn.
      """
    And the next document carries
      | provenance.confidence | 0.9 |
    And on 17 August 2026 at 10:00, the chat message "d5" says
      """
      I have glaucoma. I have a cough.
      """
    And on 20 August 2026 at 08:00, the job "confidence_analytics" runs
    And `anamnesis events list` does not show "confidence.alert"
    When the next document carries
      | provenance.confidence | 0.3 |
    And on 28 August 2026 at 10:00, the chat message "d6" says
      """
      I have anemia. I have nausea. I take ibuprofen 400 mg daily.
      """
    And the next document carries
      | provenance.confidence | 0.3 |
    And on 29 August 2026 at 10:00, the chat message "d7" says
      """
      I have a rash. I have vertigo. I feel tired.
      """
    And on 30 August 2026 at 08:00, the job "confidence_analytics" runs
    Then `anamnesis events list` shows "confidence.alert"
    And `anamnesis report confidence --org {org} --patient {patient}` shows "0.30"
    And `anamnesis report confidence --org {org} --patient {patient}` shows "0.90"
