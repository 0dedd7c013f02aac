"""A Debian kernel with its modules, fetched once and unpacked, never installed."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from guest.errors import GuestFailedError, GuestMissingError, need_command


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """An unpacked kernel package."""

    version: str
    package_version: str
    root: Path

    @property
    def image(self) -> Path:
        """The kernel itself."""
        return self.root / f"boot/vmlinuz-{self.version}"

    @property
    def module_folder(self) -> Path:
        """Where its modules and their dependencies lie."""
        return self.root / f"lib/modules/{self.version}"

    def module_files(self, names: list[str]) -> list[Path]:
        """Files of the named modules and of what they depend on, in the order of loading; built-in ones have none."""
        dependencies = self._dependencies()
        files: dict[Path, None] = {}
        for name in names:
            needed = dependencies.get(name)
            if needed is None and not self._is_built_in(name):
                raise GuestFailedError(f"the kernel {self.version} has no module {name}")
            files |= dict.fromkeys(needed or [])
        return list(files)

    def _dependencies(self) -> dict[str, list[Path]]:
        lines = (self.module_folder / "modules.dep").read_text("utf-8").splitlines()
        found = {}
        for line in lines:
            module, _, needed = line.partition(":")
            # depmod lists what must be loaded first last.
            found[module_name(module)] = [self.module_folder / file for file in [*needed.split()[::-1], module]]
        return found

    def _is_built_in(self, name: str) -> bool:
        lines = (self.module_folder / "modules.builtin").read_text("utf-8").splitlines()
        return name in {module_name(line) for line in lines}


def module_name(file: str) -> str:
    """The name that a module's file stands for.

    >>> module_name("kernel/drivers/scsi/sd_mod.ko"), module_name("kernel/drivers/acpi/nfit-test.ko.xz")
    ('sd_mod', 'nfit_test')
    """
    return Path(file).name.split(".")[0].replace("-", "_")


def find_kernel(cache: Path, *, flavour: str = "cloud-amd64", fetch: bool = True) -> Kernel:
    """The newest Debian kernel of a flavour that apt knows, from the cache or fetched into it.

    cache : a folder outside version control. flavour : ``cloud-amd64`` (NVMe built in, 27 MB) or ``amd64`` (all
    drivers, 71 MB). fetch : False takes what is there. Where apt knows none, the newest in the cache serves.
    Raises GuestMissingError.
    """
    package = current_package(flavour)
    kept = sorted(cache.glob(f"linux-image-*-{flavour}/package_version"), key=lambda path: path.stat().st_mtime)
    wanted = [path for path in kept if package in {None, path.parent.name}] or ([] if fetch and package else kept)
    if wanted:
        return kernel_in(wanted[-1].parent)
    if package is None or not fetch:
        raise GuestMissingError(f"no kernel of the flavour {flavour} in {cache}, and none may be fetched")
    return fetch_kernel(package, cache)


def current_package(flavour: str) -> str | None:
    """The kernel package that Debian's metapackage of this flavour stands for."""
    command = [need_command("apt-cache", "apt"), "depends", f"linux-image-{flavour}"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = re.search(rf"Depends: (linux-image-[0-9]\S*-{flavour})\s", answer)
    return found[1] if found else None


def fetch_kernel(package: str, cache: Path) -> Kernel:
    """Download a kernel package and unpack it; seen in the cache only once it is whole."""
    apt, dpkg, depmod = need_command("apt-get", "apt"), need_command("dpkg-deb", "dpkg"), need_command("depmod", "kmod")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        downloaded = subprocess.run([apt, "download", "-q", package], cwd=scratch, capture_output=True, check=False)
        archive = next(Path(scratch).glob("*.deb"), None)
        if downloaded.returncode != 0 or archive is None:
            raise GuestMissingError(f"apt-get download {package} failed: run apt-get update with a network")
        root = Path(scratch) / package
        subprocess.run([dpkg, "-x", archive, root], check=True)
        subprocess.run([depmod, "-b", root, package.removeprefix("linux-image-")], check=True)
        version = subprocess.run([dpkg, "-f", archive, "Version"], capture_output=True, text=True, check=True).stdout
        (root / "package_version").write_text(version, "utf-8")
        root.rename(cache / package)
    return kernel_in(cache / package)


def kernel_in(root: Path) -> Kernel:
    """The kernel that was unpacked into this folder."""
    package_version = (root / "package_version").read_text("utf-8").strip()
    return Kernel(version=root.name.removeprefix("linux-image-"), package_version=package_version, root=root)
