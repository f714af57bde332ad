//! Nouns that make a thing of a name: "signo de X", "X sign".

use super::super::word_tables::WordList;

/// Nouns before "de X".
pub(crate) static BEFORE: WordList = WordList::spaced(
    // Without the lists of eponyms, devices and brands, 187 characters more that are no personal data are replaced in
    // the fixed sets, and ten clean lines more are touched (`false_positives` in docs/redaction-model.md).
    "enfermedad sindrome signo signos maniobra maniobras escala escalas test prueba pruebas indice clasificacion \
     grado estadio tecnica metodo operacion intervencion tumor linfoma sarcoma carcinoma anemia paralisis corea \
     reflejo tratamiento cirugia sonda cateter aguja agujas protesis valvula vena arteria ligamento trompa trompas \
     ganglio ganglios bacilo virus nodulo nodulos celula celulas cuerpo cuerpos criterio criterios formula ley medio \
     tincion esofago diverticulo saco espacio asa canal conducto glandula glandulas hernia fractura linea punto \
     angulo triangulo mal fenomeno triada puntuacion score sistema cuestionario inventario procedimiento abordaje \
     incision plastia ferula collarin dispositivo contractura quiste placa placas reaccion solucion liquido suero \
     facies pie mancha manchas granulos cilindro membrana capsula ampolla esfinter fondo fascia zona area circulo \
     poligono torre ecuacion curva ensayo modelo teoria terapia pinza pinzas separador tijera drenaje bomba \
     reservorio nefropatia tiroiditis ataxia sordera purpura esclerosis distrofia miopatia neuropatia gangrena ulcera \
     vasculitis cociente regla grados tipo factor acueducto agujero foramen hiato istmo polo seno septo valvulas \
     operado status disease syndrome sign scale criteria circle tetralogy fasciculus bundle loop ampulla sphincter \
     sulcus fossa fissure foramina tubercle tubercles crypt crypts node nodes artery vein ligament fascia canal duct \
     pouch islets neuralgia anillo anillos tendon dieta islote islotes posicion codigo demencia bolsa temblor lesion \
     degeneracion distonia lipoma cancer trastorno hierba fuego baile canula espejo tubo contencion escalera cama \
     reglas corse faja medias pomada gotas vacuna toxina cultivo agar nomograma consenso guia guias protocolo estudio \
     vendaje yeso cabestrillo clavo tornillo lente lentes parche injerto colgajo malla derivacion anastomosis \
     artroplastia osteotomia plexo surco cisura cisterna fisura pliegue granuloma cristales ovillos antigeno \
     anticuerpo bateria figura torres cubos respiracion crisis bloqueo ritmo complejo angina fiebre ulcus camara \
     clavos tornillos sondas drenajes canulas mascarilla mascara aposito apositos vendajes inhalador pluma balon \
     marcapasos desfibrilador monitor sensor audifono ortesis plantilla muleta muletas andador almohada tabla \
     diagrama cronograma gradiente volumen presion umbral nucleo nucleos haz fasciculo tuberculo cresta espina \
     apofisis cuello luxacion esguince botella bano metodos programa modelos nodo reactivo perfil panel gripe \
     encefalitis meningitis vertigo mioclonia epilepsia afasia apraxia agnosia delirio bocio nevus cojin colchon hepatitis proceso fistula soplo pulso pupila pupilas diente dientes estria estrias arnes traccion desgarro rejilla vendaje grua medias celulas colitis acne eritema exantema \
     tina sarna mola tos",
);

/// Nouns after a name.
pub(crate) static AFTER: WordList = WordList::spaced(
    "cognitive assessment depression anxiety disease syndrome sign test tests score scale criteria lymphoma sarcoma \
     classification maneuver manoeuvre procedure catheter contracture esophagus oesophagus palsy phenomenon reflex \
     fracture tumor tumour ulcer index inventory questionnaire stage grade virus bodies cells stain nodes tube drain \
     pouch loop position therapy method diverticulum cyst dementia encephalopathy aphasia ligament canal gland glands \
     incision repair operation rule rules equation protocol syndromes coma anemia monitor rings ring tubes diet \
     burnout gait testing body triangle line lines node node's area hernia disorder traits effect model scan \
     syndrome's reaction lesion lesions personality wraps wort stent cannula bougie splint brace suction solution \
     oximeter airway forceps retractor spots facies triad pentad postnatal pressure formula coefficient bacillus agar \
     exercises exercise exam positive negative positivo positiva negativo negativa collar angle pain prosthesis sequence implant nail plate screw pin \
     blade knife laser lens drops cream gel patch pump mesh graft flap bypass shunt fistula anastomosis resection \
     osteotomy arthroplasty fusion laminectomy trial nomogram curve chart table calculator algorithm guideline \
     guidelines consensus technique view projection maneuvers point duct fold layer cleft groove sinus plexus space \
     foramen tract pathway foci granules crystals plaques tangles vaccine toxin antigen antibody agglutination medium \
     broth regimen protocols grading scoring staging variant tremor ataxia neuropathy myopathy vasculitis arteritis \
     thyroiditis nephritis colitis leukemia melanoma deformity effusion nodule nodules plaque crisis angina block \
     rhythm complex respirations breathing heels rails figure battery task interview checklist profile inventories \
     instrument manual puzzle cube blocks nevus naevus murmur pulse teeth striae harness traction tongs bar sump valve cord gallbladder holder patch mets mass pattern trial extent system chews pupil pupils lift lifts dance balance frame boot boots dressing dressings \
     pen pens inhaler inhalers suppositories lozenges soaks foam spray subscale percentile centile breaths jerk jerks \
     reflexes paralysis paresis chorea neuroma lipoma fibroma hygroma fracture-dislocation dislocation sprain \
     osteochondritis orthosis prostheses stockings hose wedge cot cannulae trocar clamp scissors elevator dilator \
     obturator tourniquet cuff stapler sutures suture knot stitch approach osteotome wire wires igm igg titer titers \
     titre serology encephalitis meningitis chromosome gene allele phenotype haplotype receptor inhibitor pcr islets \
     bundle fibers fibres fascia tubercle process crest valve valves membrane corpuscle corpuscles chamber apparatus \
     transmitter sickness tics goiter goitre nephropathy retinopathy keratopathy dystrophy atrophy ichthyosis \
     pemphigoid acne syndromic staircase commode urinal thermometer tonometry lenses manoeuvres impingement extension extensions \
     pads ducts nevi naevi classifications rods gaze dullness osteophyte abscess hernias hematoma effusions crutches \
     walker brackets bands dots nodosities arthropathy granuloma granulomas",
);
