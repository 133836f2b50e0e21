"""Signatures of publications: Ed25519 by pyca/cryptography, over the canonical bytes of what is signed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from lastbit.errors import ParameterError


def create_keys(path: str | Path) -> tuple[Path, Path, str]:
    """Make a pair of keys: the private one that nobody else may read, and the public one beside it, ending in .pub.

    Returns both files and the fingerprint of the public key.
    """
    private_file = Path(path)
    if (private_file.parent / "release.json").exists():
        raise ParameterError(
            f"{private_file.parent} is a published folder, and a private key is not published. Name a file elsewhere."
        )
    public_file = private_file.with_name(f"{private_file.name}.pub")
    key = Ed25519PrivateKey.generate()
    try:
        if public_file.exists():
            raise FileExistsError
        descriptor = os.open(private_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        public_file.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    except FileExistsError:
        raise ParameterError(
            f"{private_file} is there already, and a key is never overwritten. Name another file."
        ) from None
    except OSError as error:
        raise ParameterError(f"{private_file} cannot be written: {error.strerror}. Name another file.") from None
    return private_file, public_file, fingerprint(public_bytes(key.public_key()))


def read_private_key(path: str | Path) -> Ed25519PrivateKey:
    """Return the private key of a file."""
    key = _load(path, lambda content: load_pem_private_key(content, None))
    if not isinstance(key, Ed25519PrivateKey):
        raise ParameterError(f"{path} is no private key of Ed25519. Make one with: lastbit publish key FILE.")
    return key


def read_public_key(path: str | Path) -> Ed25519PublicKey:
    """Return the public key of a file: what `create_keys` wrote beside the private one."""
    key = _load(path, load_pem_public_key)
    if not isinstance(key, Ed25519PublicKey):
        raise ParameterError(f"{path} is no public key of Ed25519. The publisher has it, in a file that ends in .pub.")
    return key


def _load(path: str | Path, load: Any) -> Any:
    try:
        return load(Path(path).read_bytes())
    except OSError as error:
        raise ParameterError(f"the key {path} cannot be read: {error.strerror}.") from None
    except Exception:  # a file of somebody: whatever the library says of it, it is no key
        return None


def public_bytes(key: Ed25519PublicKey) -> bytes:
    """Return the 32 bytes of a public key."""
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def fingerprint(key: bytes) -> str:
    """Return the fingerprint of a public key, in groups that people compare.

    >>> fingerprint(bytes(32))
    '6668 7AAD F862 BD77 6C8F C18B 8E9F 8E20'
    """
    digest = hashlib.sha256(key).hexdigest()[:32].upper()
    return " ".join(digest[place : place + 4] for place in range(0, 32, 4))


def sign(key: Ed25519PrivateKey, content: bytes) -> dict[str, str]:
    """Return the signature of some bytes, with the public key that checks it."""
    return {"public_key": public_bytes(key.public_key()).hex(), "signature": key.sign(content).hex()}


def is_signed(signature: Any, content: bytes) -> bool:
    """Return whether a signature is one of these bytes, by the key that it names, and written as `sign` writes it."""
    try:
        parts = {name: bytes.fromhex(signature[name]) for name in ("public_key", "signature")}
        Ed25519PublicKey.from_public_bytes(parts["public_key"]).verify(parts["signature"], content)
    except (InvalidSignature, ValueError, TypeError, KeyError):
        return False
    return bool(signature == {name: part.hex() for name, part in parts.items()})
