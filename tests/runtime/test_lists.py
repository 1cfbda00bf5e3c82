"""Tests that each line of a list is a name of its own to the shipped models."""

from __future__ import annotations

import re

import pytest

from fascicle.loading import load

DISEASES = re.split(
    ";",
    "asthma;diabetes mellitus;hypertension;breast cancer;lung cancer;colorectal cancer;melanoma;psoriasis;"
    "rheumatoid arthritis;osteoporosis;epilepsy;migraine;schizophrenia;Parkinson disease;Alzheimer disease;"
    "multiple sclerosis;cystic fibrosis;sickle cell anemia;hemophilia;tuberculosis;malaria;pneumonia;influenza;"
    "hepatitis B;cirrhosis;pancreatitis;Crohn disease;ulcerative colitis;celiac disease;gout;obesity;anemia;leukemia;"
    "lymphoma;glaucoma;cataract;stroke;myocardial infarction;heart failure;atrial fibrillation",
)
DRUGS = re.split(
    ";",
    "metformin;insulin;atorvastatin;lisinopril;warfarin;aspirin;amoxicillin;ibuprofen;omeprazole;simvastatin;losartan;"
    "gabapentin;sertraline;furosemide;prednisone;ciprofloxacin;clopidogrel;levothyroxine;morphine;doxorubicin",
)


@pytest.mark.parametrize("model", ["biomed", "biomed-fast"])
@pytest.mark.parametrize("form", ["{1}", "• {1}", "{0}. {1}", "Item: {1}", "> {1}"])
def test_every_name_of_a_list_is_a_mention(model: str, form: str) -> None:
    predictor = load(model)
    for names in (DISEASES, DRUGS):
        text = "\n".join(form.format(number, name) for number, name in enumerate(names, 1))
        found = {mention.text for mention in predictor(text)}
        assert set(names) <= found


@pytest.mark.parametrize("model", ["biomed", "biomed-fast"])
def test_a_name_over_the_line_end_of_prose_is_one_mention(model: str) -> None:
    text = "The patients with type 2\ndiabetes mellitus were treated\nwith metformin for a year."
    assert (18, 42) in {mention.spans[0] for mention in load(model)(text)}
