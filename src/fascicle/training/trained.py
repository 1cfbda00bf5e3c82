"""Opens a trained model for further use: to continue its training, or as a teacher."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from fascicle.errors import RecipeError
from fascicle.models.encoder import Pretrained
from fascicle.models.model import TOKENIZER, NerModel, load_model
from fascicle.models.nn.pooling import InputVectors
from fascicle.runtime.inputs import columns_of
from fascicle.runtime.places import find_model
from fascicle.settings.folders.best import described_by
from fascicle.settings.folders.manifest import MANIFEST, Manifest, check_files, read_manifest
from fascicle.settings.folders.vocabularies import is_dictionary, is_pack
from fascicle.text.pieces import PieceTokenizer

_VECTORS: Final = "units.vectors.table"  # prefix of the weights of a head with input features


@dataclass(frozen=True, kw_only=True)
class Trained:
    """Model of torch with its weights.

    Attributes:
        manifest: of its folder.
        model: in evaluation mode.
        tokenizer: of its encoder.
    """

    manifest: Manifest
    model: NerModel
    tokenizer: PieceTokenizer

    def pretrained(self) -> Pretrained:
        """Returns the encoder of the model itself, not a copy."""
        return Pretrained(encoder=self.model.encoder, tokenizer=self.tokenizer, special=_special_of(self.tokenizer))

    def hand_on(self, model: NerModel, manifest: Manifest) -> Iterator[str]:
        """Copies the weights of its heads to heads of another model that are of the same kind.

        Args:
            model: on the same encoder.
            manifest: of that model.

        Returns:
            Sentences on the result for each head.
        """
        for name, settings in manifest.heads.items():
            if reason := self._differs(name, manifest):
                yield f"the head {name!r} is new, for that of {self.manifest.name} {reason}"
                continue
            weights = self.model.head(name).state_dict()
            vectors = weights.pop(_VECTORS, None)
            unread = model.head(name).load_state_dict(weights, strict=False)
            assert {*unread.unexpected_keys, *unread.missing_keys} <= {_VECTORS}, unread
            yield f"the head {name!r} ({settings.family}) goes on with the weights of {self.manifest.name}"
            yield from self._hand_on_vectors(vectors, model.head(name).units.vectors, manifest)

    def _hand_on_vectors(self, own: Tensor | None, new: InputVectors | None, manifest: Manifest) -> Iterator[str]:
        """Copies the vectors of input features that both models have; vectors of other features start at zero."""
        before, after = (columns_of(one.inputs).names if one.inputs else () for one in (self.manifest, manifest))
        both = [name for name in after if name in before]
        if own is not None and new is not None and both:
            places = [(before.index(name), after.index(name)) for name in both]
            with torch.no_grad():
                new.table[[at for _, at in places]] = own[[at for at, _ in places]]
        if after:
            yield f"of {len(after)} vectors of inputs {len(both)} go on, and the others start at zero"
        if len(both) < len(before):
            yield f"{len(before) - len(both)} vectors of inputs of {self.manifest.name} are not used"

    def _differs(self, name: str, manifest: Manifest) -> str:
        """Returns the reason why a head cannot take these weights; empty if it can."""
        own = self.manifest.heads.get(name)
        if own is None:
            return "is not there: it has " + ", ".join(map(repr, self.manifest.heads))
        if self.manifest.types != manifest.types:
            return f"has other types ({', '.join(self.manifest.types)})"
        if own != manifest.heads[name] or self.manifest.descriptions.get(name) != manifest.descriptions.get(name):
            return "has other settings"
        return ""


def open_trained(given: str, *, key: str, use: str) -> Trained:
    """Opens a model of torch.

    Args:
        given: a model folder or a run folder.
        key: of the recipe that names it, for sentences.
        use: missing property of an unsuitable model, for messages, such as ``"whose layers cannot be read"``.

    Raises:
        ModelError: there is no such model, or it is damaged.
        RecipeError: an ensemble, an export, or a dictionary.
    """
    if is_dictionary(given) or is_pack(given):
        raise RecipeError(
            f"{key} = {given!r} is a dictionary or term pack, {use}; give the run folder of a model", key=key
        )
    folder = find_model(given)
    if described_by(folder).name != MANIFEST:
        raise RecipeError(f"{key} = {given!r} is no single model, {use}; give the run folder of one", key=key)
    manifest = read_manifest(folder)
    if manifest.runtime != "torch":
        raise RecipeError(f"{key} = {given!r} is an export, {use}; give the run folder of its training", key=key)
    check_files(folder, manifest)
    tokenizer = PieceTokenizer.from_file(folder / TOKENIZER, pad=manifest.tokenizer.pad)
    return Trained(manifest=manifest, model=load_model(folder, manifest), tokenizer=tokenizer)


def _special_of(tokenizer: PieceTokenizer) -> dict[str, str]:
    """Returns the special tokens of a tokenizer by the names that transformers gives to their uses."""
    names = {at: token for token, at in tokenizer.tokens.items()}
    uses = {"pad_token": tokenizer.pad, "unk_token": tokenizer.unknown, "mask_token": tokenizer.mask}
    if len(tokenizer.prefix) == len(tokenizer.suffix) == 1:
        uses |= {"cls_token": tokenizer.prefix[0], "sep_token": tokenizer.suffix[0]}
    return {use: names[at] for use, at in uses.items() if at is not None}
