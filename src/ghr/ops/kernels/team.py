"""How a kernel hands its rows out to a team of threads: Python calls it once, and none of the threads sees Python.

If Python called a kernel on every thread, range by range, it would hand over all arguments each time, one thread after
the other because of its lock.
"""

import platform
from collections.abc import Callable
from typing import Any, TypeAlias

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

build: Any = cgutils
# Addresses of GOMP_parallel and omp_get_thread_num, how many threads there are, and rows they take at a time.
Team: TypeAlias = tuple[int, int, int, int]
ALONE: Team = (0, 0, 1, 1 << 62)  # for one thread, which takes all rows at once
INSIDE: Team = (0, 0, 0, 1)  # for a call from a kernel that a team, or one thread, has begun
X86 = platform.machine().lower() in ("x86_64", "amd64")
FLUSH = 0x8040  # of the control word of such a CPU: numbers too small to be normal are zero, read and written
APART = 8  # numbers between two counters, so that no two threads write to one line of the cache
ERROR, DETAILS, OTHERS = 6, 7, 8  # places in the frame that threads share, behind six numbers about their work


def operation(function: Callable[..., Any]) -> Any:
    """Make an operation of a function that generates its instructions."""
    return intrinsic(function)


@operation
def handed_out(typing: Any, team: Any, first: Any, stop: Any) -> Any:
    """Return whether the rows of a kernel are done, which is so where Python called it, and not so inside.

    Team and range are the first arguments of the kernel, and this is the first that it does. Called by Python, it has
    every thread call the kernel again, inside: on pieces of its own share of the rows, which are the same at every call
    and so still near its core, and then on what others have left of theirs. An error of any comes through. Meanwhile
    CPUs take numbers below the smallest normal one for zero: gradients get there, and slow products down many times.
    """

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        kernel, code = builder.function, ir.IntType(32)
        kernel.attributes.add("noinline")  # else it would be compiled once more for every place that calls it
        parallel, number, threads, step = build.unpack_tuple(builder, values[0])
        whole = step.type
        # Behind where its result and its error go, four numbers of a team and two of a range.
        others = kernel.args[2 + 4 + 2 :]
        error = kernel.args[1].type.pointee
        work = [whole.as_pointer(), *[whole] * 5]
        frame = ir.LiteralStructType([*work, code, error, *(value.type for value in others)])
        member = _define_member(builder.module, kernel, frame)
        outside = builder.icmp_signed(">", threads, whole(0))
        room = build.alloca_once(builder, frame)
        with builder.if_then(outside):
            taken = builder.alloca(whole, builder.mul(threads, whole(APART)))
            with build.for_range(builder, threads) as loop:
                builder.store(whole(0), builder.gep(taken, [builder.mul(loop.index, whole(APART))]))
            count = builder.sub(values[2], values[1])
            known = (taken, values[1], count, number, threads, step, code(0), error(None), *others)
            for place, value in enumerate(known):
                builder.store(value, build.gep_inbounds(builder, room, 0, place))
            handed = builder.bitcast(room, member.args[0].type)
            with builder.if_else(build.is_not_null(builder, parallel)) as (together, alone):
                with together:
                    start = ir.FunctionType(ir.VoidType(), [member.type, handed.type, code, code]).as_pointer()
                    start = builder.inttoptr(parallel, start)
                    builder.call(start, [member, handed, builder.trunc(threads, code), code(0)])
                with alone:
                    builder.call(member, [handed])
            failed = builder.load(build.gep_inbounds(builder, room, 0, ERROR))
            with build.if_unlikely(builder, build.is_not_null(builder, failed)):
                builder.store(builder.load(build.gep_inbounds(builder, room, 0, DETAILS)), kernel.args[1])
                builder.ret(failed)
        return outside

    return types.boolean(team, types.intp, types.intp), generate


def _define_member(module: Any, kernel: Any, frame: Any) -> Any:
    """Define what a thread does, to which the frame is all that it is told."""
    kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer()])
    member = ir.Function(module, kind, f"{kernel.name}.member")
    member.linkage = "internal"
    names = ("begin", "number", "choose", "enter", "take", "work", "fail", "leave", "end")
    begin, numbered, choose, enter, take, work, fail, leave, end = map(member.append_basic_block, names)

    builder = ir.IRBuilder(begin)
    room = builder.bitcast(member.args[0], frame.as_pointer())
    places = [build.gep_inbounds(builder, room, 0, place) for place in range(len(frame.elements))]
    taken, start, count, number, threads, step = (builder.load(place) for place in places[:ERROR])
    others = [builder.load(place) for place in places[OTHERS:]]
    result, details = (builder.alloca(argument.type.pointee) for argument in kernel.args[:2])
    before = _flush(builder)
    builder.cbranch(build.is_not_null(builder, number), numbered, choose)

    builder.position_at_end(numbered)
    ask = ir.FunctionType(ir.IntType(32), []).as_pointer()
    asked = builder.zext(builder.call(builder.inttoptr(number, ask), []), step.type)
    builder.branch(choose)

    builder.position_at_end(choose)  # whose share: its own, then that of every other
    turn, own = builder.phi(step.type), builder.phi(step.type)
    for block, its_own in ((begin, step.type(0)), (numbered, asked)):
        turn.add_incoming(step.type(0), block)
        own.add_incoming(its_own, block)
    builder.cbranch(builder.icmp_signed("<", turn, threads), enter, end)

    builder.position_at_end(enter)
    owner = builder.srem(builder.add(own, turn), threads)
    low = builder.sdiv(builder.mul(count, owner), threads)
    size = builder.sub(builder.sdiv(builder.mul(count, builder.add(owner, step.type(1))), threads), low)
    counter = builder.gep(taken, [builder.mul(owner, step.type(APART))])
    builder.branch(take)

    builder.position_at_end(take)
    done = builder.atomic_rmw("add", counter, step, "monotonic")
    builder.cbranch(builder.icmp_signed("<", done, size), work, leave)

    builder.position_at_end(work)
    behind = builder.add(done, step)
    behind = builder.select(builder.icmp_signed("<", behind, size), behind, size)
    low = builder.add(start, low)
    inside = [step.type(value) for value in INSIDE]
    failed = builder.call(kernel, [result, details, *inside, builder.add(low, done), builder.add(low, behind), *others])
    builder.cbranch(build.is_not_null(builder, failed), fail, take)

    builder.position_at_end(fail)
    builder.store(failed, places[ERROR])
    builder.store(builder.load(details), places[DETAILS])
    builder.branch(end)

    builder.position_at_end(leave)
    turn.add_incoming(builder.add(turn, step.type(1)), leave)
    own.add_incoming(own, leave)
    builder.branch(choose)

    builder.position_at_end(end)
    _set_control(builder, before)
    builder.ret_void()
    return member


def _flush(builder: Any) -> Any:
    """Let the CPU take numbers that are not normal for zero; return where the control word from before is."""
    before, word = builder.alloca(ir.IntType(32)), ir.IntType(32)
    if X86:
        _call(builder, "llvm.x86.sse.stmxcsr", before)
        changed = builder.alloca(word)
        builder.store(builder.or_(builder.load(before), word(FLUSH)), changed)
        _set_control(builder, changed)
    return before


def _set_control(builder: Any, place: Any) -> None:
    if X86:
        _call(builder, "llvm.x86.sse.ldmxcsr", place)


def _call(builder: Any, name: str, place: Any) -> None:
    byte = ir.IntType(8).as_pointer()
    function = builder.module.declare_intrinsic(name, (), ir.FunctionType(ir.VoidType(), [byte]))
    builder.call(function, [builder.bitcast(place, byte)])
