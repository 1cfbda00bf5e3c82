"""Texts with raised and lowered parts: names before marks of citations, and constructs that keep
what is raised.
"""

from __future__ import annotations

GENES = (
    *(
        "IL-2",
        "IL-6",
        "IL-10",
        "IL-17",
        "TP53",
        "BRCA1",
        "BRCA2",
        "CXCL12",
        "CXCR4",
        "CCL2",
        "MMP-9",
        "MMP2",
        "CD4",
    ),
    *(
        "CD8",
        "CD44",
        "HER2",
        "TLR4",
        "STAT3",
        "SMAD4",
        "FOXP3",
        "EGFR",
        "VEGF",
        "PTEN",
        "KRAS",
        "NOTCH1",
        "GATA3",
    ),
    *("CYP3A4", "SOX2", "TNF-alpha", "interleukin 6"),
)
DISEASES = (
    *(
        "gout",
        "asthma",
        "psoriasis",
        "malaria",
        "tuberculosis",
        "hypertension",
        "lung cancer",
        "breast cancer",
    ),
    *(
        "type 2 diabetes",
        "cystic fibrosis",
        "rheumatoid arthritis",
        "multiple sclerosis",
        "Alzheimer's disease",
    ),
    *(
        "Parkinson's disease",
        "schizophrenia",
        "epilepsy",
        "obesity",
        "sepsis",
        "pneumonia",
        "COVID-19",
        "melanoma",
    ),
    *("glioblastoma", "osteoporosis", "hepatitis B", "Crohn's disease"),
)
DRUGS = (
    *(
        "aspirin",
        "metformin",
        "ibuprofen",
        "warfarin",
        "lithium",
        "cisplatin",
        "tamoxifen",
        "insulin",
        "dexamethasone",
    ),
    *(
        "methotrexate",
        "rifampicin",
        "isoniazid",
        "clozapine",
        "haloperidol",
        "morphine",
        "ketamine",
        "doxorubicin",
    ),
    *(
        "vitamin C",
        "vitamin D",
        "simvastatin",
        "omeprazole",
        "fluoxetine",
        "amiodarone",
        "tacrolimus",
        "digoxin",
    ),
)
# Names whose last word is a single capital.
LETTERED = tuple(
    """
bisphenol A|bisphenol S/F|bisphenols A and F|Nogo A|Salmonella Paratyphi A|lipid A|cytochrome C
salvianolic acid A|Medicare Part D|clade A|clade C|Child–Pugh A|allele T|antigen A|HLA A|serovar D
natural killer T|apo E|Coxsackie A|hypervitaminosis A|protein kinase A|DNase A|Ig A|Hb S
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
NAMES = (*GENES, *DISEASES, *DRUGS)
# What a mark of citations or notes looks like where nothing but its height tells it.
MARKS = ("3", "1,2", "12", "4-6", "7–9", "1,3–5", "[3]", "[1,2]", "1, 2", "*", "†", "23,24,31")

# What belongs to the name or the number, although it is raised or lowered: each is read without its
# tags.
CONSTRUCTS = tuple(
    """
Ca<sup>2+</sup> release|free Ca<sup>2+</sup>, and|Mg<sup>2+</sup>|Zn<sup>2+</sup> ions|Fe<sup>3+</sup>
Fe<sup>2+</sup>|Cu<sup>2+</sup>|Na<sup>+</sup> channels|K<sup>+</sup> current
Na<sup>+</sup>/K<sup>+</sup>-ATPase|H<sup>+</sup>|Cl<sup>-</sup>|Cl<sup>−</sup> channel|Li<sup>+</sup>
HCO<sub>3</sub><sup>-</sup>|SO<sub>4</sub><sup>2-</sup>|PO<sub>4</sub><sup>3−</sup>|NH<sub>4</sub><sup>+</sup>
O<sub>2</sub><sup>•−</sup>|NAD<sup>+</sup>|NADP<sup>+</sup>|Al<sup>3+</sup>|Mn<sup>2+</sup>|Cd<sup>2+</sup>
Hg<sup>2+</sup>|Pb<sup>2+</sup>|Ni<sup>2+</sup>|Co<sup>2+</sup>|Sr<sup>2+</sup>|Ba<sup>2+</sup>|Gd<sup>3+</sup>
Ca<sup>++</sup>|Ca<sup>2</sup>+ influx|Fe<sup>III</sup>|Cr<sup>VI</sup>|[Fe(CN)<sub>6</sub>]<sup>4-</sup>
NO<sub>3</sub><sup>-</sup>|CO<sub>3</sub><sup>2-</sup>|OH<sup>-</sup>|I<sup>-</sup>
<sup>14</sup>C-labelled glucose|[<sup>3</sup>H]thymidine|<sup>18</sup>F-FDG|<sup>99m</sup>Tc|<sup>131</sup>I
<sup>125</sup>I-labelled|<sup>32</sup>P|<sup>35</sup>S|<sup>51</sup>Cr release|<sup>13</sup>C NMR
<sup>1</sup>H NMR|<sup>15</sup>N|<sup>2</sup>H<sub>2</sub>O|<sup>18</sup>FDG|<sup>177</sup>Lu-PSMA
<sup>90</sup>Y|<sup>68</sup>Ga|<sup>111</sup>In|<sup>64</sup>Cu|<sup>60</sup>Co|<sup>137</sup>Cs
<sup>201</sup>Tl|<sup>13</sup>CO<sub>2</sub>|U-<sup>13</sup>C|(<sup>15</sup>N)|Na<sup>131</sup>I
[<sup>11</sup>C]methionine|[<sup>125</sup>I]iodide|[U-<sup>14</sup>C]|<sup>89</sup>Zr|<sup>225</sup>Ac
<sup>223</sup>Ra|<sup>31</sup>P MRS|<sup>19</sup>F NMR|<sup>23</sup>Na|Co<sup>60</sup>|I<sup>131</sup> therapy
10<sup>6</sup> cells|10<sup>-6</sup> M|10<sup>−9</sup> M|5 × 10<sup>5</sup> cells|2.5x10<sup>8</sup> CFU
10<sup>3</sup>–10<sup>5</sup>|of 10<sup>9</sup>/L|about 10<sup>12</sup>|(10<sup>7</sup>)|10<sup>4</sup>-fold
m<sup>2</sup>|kg/m<sup>2</sup>|cm<sup>2</sup> area|mm<sup>3</sup>|cells/mm<sup>3</sup>|mg/m<sup>2</sup> of
1.73 m<sup>2</sup>|1.73m<sup>2</sup>|µm<sup>2</sup>|μm<sup>3</sup>|km<sup>2</sup>|nm<sup>2</sup>|Å<sup>2</sup>
cm<sup>3</sup>|dm<sup>3</sup>|cm<sup>-1</sup>|s<sup>-1</sup>|min<sup>-1</sup>|kg<sup>-1</sup>|mol<sup>−1</sup>
L<sup>-1</sup>|m/s<sup>2</sup>|mL·min<sup>-1</sup>·1.73 m<sup>-2</sup>|CD4<sup>+</sup> T cells|CD8<sup>+</sup>
CD34<sup>-</sup>|CD4<sup>+</sup>CD25<sup>+</sup>|CD25<sup>hi</sup>|CD62L<sup>low</sup>|CD45RA<sup>−</sup>
Foxp3<sup>+</sup>|Ly6C<sup>high</sup>|CD11b<sup>+</sup>Gr-1<sup>+</sup>|CD44<sup>+</sup>/CD24<sup>-/low</sup>
CD56<sup>dim</sup>|CD14<sup>++</sup>|Lin<sup>−</sup>Sca-1<sup>+</sup>|IgM<sup>lo</sup>|CD3<sup>neg</sup>
CD19<sup>pos</sup>|CD38<sup>bright</sup>|Apc<sup>Min/+</sup> mice|p53<sup>-/-</sup>|Trp53<sup>+/−</sup>
Apoe<sup>−/−</sup>|Kras<sup>G12D</sup>|BRAF<sup>V600E</sup>|Lep<sup>ob</sup>/Lep<sup>ob</sup>|Lepr<sup>db</sup>
Pten<sup>fl/fl</sup>|Rag1<sup>tm1Mom</sup>|H-2K<sup>b</sup>|H-2<sup>d</sup>|Kit<sup>W-v</sup>
Apc<sup>1638N</sup>|Nu<sup>nu</sup>|Prkdc<sup>scid</sup>|PrP<sup>Sc</sup>|PrP<sup>C</sup>|EGFR<sup>L858R</sup>
FVB<sup>wt</sup>|Cdkn1b<sup>null</sup>|p27<sup>Kip1</sup>|p21<sup>Cip1/Waf1</sup>|p16<sup>INK4a</sup>
p19<sup>ARF</sup>|p56<sup>lck</sup>|pp60<sup>c-src</sup>|p210<sup>bcr-abl</sup>|p130<sup>Cas</sup>
Ki67<sup>+</sup>|H<sub>2</sub>O|H<sub>2</sub>O<sub>2</sub>|CO<sub>2</sub>|O<sub>2</sub>|HbA<sub>1c</sub>
PGE<sub>2</sub>|vitamin B<sub>12</sub>|vitamin D<sub>3</sub>|CaCl<sub>2</sub>|TNF<sub>α</sub>|IC<sub>50</sub>
V<sub>max</sub>|T<sub>3</sub>|C<sub>max</sub>|FEV<sub>1</sub>|GABA<sub>A</sub> receptor|5-HT<sub>2A</sub>
LTB<sub>4</sub>|As<sub>2</sub>O<sub>3</sub>|N<sub>2</sub>O|TiO<sub>2</sub>|H<sup>2</sup>O|CO<sup>2</sup>
R<sup>2</sup>|r<sup>2</sup> = 0.9|χ<sup>2</sup> test|I<sup>2</sup>|η<sup>2</sup>|h<sup>2</sup>|n<sup>2</sup>
sp<sup>3</sup>|chi<sup>2</sup>|(x + y)<sup>2</sup>|0.02(x - 36.57)<sup>2</sup>|2<sup>3</sup> factorial
2<sup>−ΔΔCt</sup>|2<sup>n</sup>|log<sup>2</sup>|Ser<sup>473</sup>|Thr<sup>308</sup>
[Sar<sup>1</sup>, Ile<sup>8</sup>]angiotensin II|Tyr<sup>3</sup>-octreotide|N<sup>6</sup>-methyladenosine
O<sup>6</sup>-methylguanine|Δ<sup>9</sup>-THC|delta<sup>9</sup>-tetrahydrocannabinol
N<sup>G</sup>-nitro-L-arginine|N<sup>ω</sup>|tricyclo[3.3.1.1<sup>3,7</sup>]decane|1<sup>st</sup>
2<sup>nd</sup> dose|3<sup>rd</sup>|4<sup>th</sup>|37<sup>o</sup>C|37<sup>0</sup>C|Herceptin<sup>®</sup>
Taxol<sup>™</sup>|Xarelto<sup>TM</sup>|HLA-B<sup>*</sup>57:01|CYP2D6<sup>*</sup>4|T2<sup>*</sup>-weighted
ΔG<sup>‡</sup>|T<sub>2</sub><sup>*</sup>|D-Trp<sup>6</sup>-LHRH|Asp<sup>816</sup>|3d<sup>10</sup>
IL<sup>2</sup>R|M<sup>me</sup>|x<sup>n</sup>|e<sup>x</sup>|10<sup>-</sup><sup>4</sup> overall
cm<sup>−</sup><sup>1</sup>|mi<sup>2</sup>|(1-R)<sup>2</sup>|ax<sup>2</sup> + b|sin<sup>2</sup>δ|O(n<sup>2</sup>)
Pde6b<sup>rd<sup>1</sup></sup> mice|Cftr<sup>tm<sup>1</sup>Unc</sup>|Χ<sup>2</sup> = 2.91|anti-Src[pY<sup>418</sup>]
BMI = WSAC/NA<sup>2</sup>*100|0.15×S<sup>3</sup>+11.38×10<sup>-3</sup>*S<sup>4</sup>|1.10<sup>7</sup> CFU
10<sup>5</sup>-10<sup>6</sup> CFU|10<sup>5</sup>,10<sup>6</sup>,10<sup>7</sup>|1-10<sup>6</sup>|5X10<sup>5</sup>
5 x10<sup>5</sup>|5 X 10<sup>5</sup>|10<sup>-6</sup>-10<sup>-4</sup> M|10<sup>5</sup> to 10<sup>6</sup>
S<sup>473</sup> phosphorylation|Y<sup>705</sup> and T<sup>308</sup>|BRAF V<sup>600</sup>|K<sup>27</sup>
N<sup>1</sup>,N<sup>12</sup>-diacetylspermine|N<sup>6</sup>,N<sup>6</sup>-dimethyladenosine|(N<sup>7</sup>)
α<sup>1</sup>-antitrypsin|β<sup>2</sup>-microglobulin|τ<sup>2</sup>|APOE ε<sup>4</sup>|ε<sup>3</sup>
phospho-S<sup>473</sup>|p-T<sup>308</sup>|H3K<sup>27</sup> methylation|θ<sup>2</sup>|H3K<sup>4</sup>
residue S<sup>473</sup>|phosphorylated Y<sup>705</sup>|residues S<sup>473</sup> and T<sup>308</sup>
Akt S<sup>473</sup>|mutation V<sup>600</sup>|histone K<sup>27</sup>|serine S<sup>15</sup>|STAT3 Y<sup>705</sup>
cytochrome P<sup>450</sup>|hepatic P<sup>450</sup>|Smad S<sup>465</sup> phosphorylation|site C<sup>797</sup>
compound N<sup>6</sup>-methyladenosine|radioactive I<sup>131</sup>|carbon C<sup>14</sup>|Nagelkerke R<sup>2</sup>
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
