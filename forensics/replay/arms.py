"""Under which conditions is a leak tried? The arms of one leak, and what each needs of a server. Runs none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forensics.replay.plan import ALONE, CONTROL, FIXED, ORIGINAL, Arm, Leak


@dataclass(frozen=True)
class Switch:
    """One thing that is set otherwise than in the incident. `off`: settings (name, value) that make it pointless."""

    name: str
    flags: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    off: tuple[tuple[str, str], ...] = ()


# The engine's own server arguments. SGLANG_RADIX_FORCE_MISS is there since 0.5.12, deterministic inference since 0.5.3.
SWITCHES = (
    Switch("radix_force_miss", (), (("SGLANG_RADIX_FORCE_MISS", "1"),), (("disable_radix_cache", "true"),)),
    Switch("radix_off", ("--disable-radix-cache",), (), (("disable_radix_cache", "true"),)),
    Switch("overlap_off", ("--disable-overlap-schedule",), (), (("disable_overlap_schedule", "true"),)),
    Switch("max_running_1", ("--max-running-requests", "1"), (), (("max_running_requests", "1"),)),
    Switch("max_running_2", ("--max-running-requests", "2"), (), (("max_running_requests", "2"),)),
    Switch("chunked_off", ("--chunked-prefill-size", "-1"), (), (("chunked_prefill_size", "-1"),)),
    Switch("deterministic", ("--enable-deterministic-inference",), (), (("enable_deterministic_inference", "true"),)),
)


def arms_of(
    leak: Leak,
    order: Sequence[str],
    trials: int,
    settings: Mapping[str, str],
    *,
    together: bool = False,
    fixed: bool = False,
) -> list[Arm]:
    """The arms of one leak. `order`: its requests by arrival, the recipient among them; `settings`: the engine's flags.

    `together`: all are put into one batch, where the timeline says that the batch did it, or no times are known.
    """
    scene: Literal["timed", "paused"] = "paused" if together else "timed"
    others = set(leak.unrelated)
    near = tuple(key for key in order if key not in others)
    control = tuple(key for key in order if key in others or key == leak.recipient)

    def arm(name: str, requests: tuple[str, ...], switch: Switch | None = None) -> Arm:
        return Arm(
            name=name,
            leak=leak.fragment_id,
            requests=requests,
            scene=scene if len(requests) > 1 else "sequential",
            switch=switch.name if switch else None,
            flags=switch.flags if switch else (),
            environment=dict(switch.environment) if switch else {},
            trials=trials,
        )

    arms = [arm(ALONE, (leak.recipient,))]
    if others:
        arms.append(arm(CONTROL, control))
    arms.append(arm(ORIGINAL, near))
    for switch in SWITCHES:
        if not any(settings.get(flag, "").lower() == value for flag, value in switch.off):
            arms.append(arm(switch.name, near, switch))
    if fixed:
        arms.append(arm(FIXED, near, Switch(FIXED)))
    return arms
