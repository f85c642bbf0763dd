"""How kernels are compiled: each to LLVM code once, and to machine code only where it is entered.

Numba compiles a kernel that another one calls as if Python called it too: with code that reads
Python's objects, optimised as a whole and loaded; then all of it is optimised again inside the
caller. Most kernels are only ever called by kernels. So a kernel has up to three forms here, each
made when it is first asked for and kept on disk by itself:

* its code: what Numba's front end gives, optimised function by function. Kernels that call it
  link it in.
* machine code entered at an address (``_calls``): its code and that of all it calls, linked,
  optimised as a whole and loaded.
* machine code entered from Python: the same, behind a function that reads Python's objects.

No number depends on it: without fast-math, LLVM keeps IEEE arithmetic whatever it inlines.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import llvmlite.binding as llvm
import numba
from numba.core import compiler, event, sigutils, types, typing
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.targetconfig import ConfigStack

COLLECT = 200_000  # objects that the compiler may make before Python looks for garbage
Types = tuple[Any, ...]  # of arguments


class Kernel(CPUDispatcher):
    """What the decorators of ``_jit`` return: called from Python, from kernels, or by address."""

    def __init__(self, function: Callable[..., Any], folder: Path, options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions={"nopython": True, **options})
        self.folder = folder
        self.known_as = function.__module__, function.__qualname__, tuple(sorted(options.items()))
        KERNELS[self.known_as] = self
        self.code, self.entered, self.called = Code(self), Entered(self), Called(self)

    def compile(self, sig: Any) -> Any:
        """For a call from Python: what is called."""
        args, _ = sigutils.normalize_signature(sig)
        if args not in self.overloads:
            self.add_overload(self.called.made(args))
        return self.overloads[args].entry_point

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """For a call from a kernel: the signature."""
        pysig, args = self._compiler.fold_argument_types(args, kws)
        made, name = self.code.made(tuple(args)), self.py_func.__name__
        template = typing.make_concrete_template(name, key=name, signatures=[made.signature])
        return template, pysig, args, {}

    def get_overload(self, sig: Any) -> Any:
        """For a call from a kernel: what Numba knows the code by."""
        args, _ = sigutils.normalize_signature(sig)
        return self.code.made(tuple(args)).entry_point

    def address(self, args: Types) -> tuple[int, Any]:
        """Where the machine code for these types of arguments begins, and the type it returns."""
        made = self.entered.made(args)
        place = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
        return int(place), made.signature.return_type


KERNELS: WeakValueDictionary[Any, Kernel] = WeakValueDictionary()  # by the names they have on disk


class Form:
    """One form of a kernel, for all types of arguments it was asked for."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.known: dict[Types, Any] = {}

    @cached_property
    def files(self) -> FunctionCache:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(self.kernel.folder)  # read while the object is made
        try:
            return Files(self)
        finally:
            numba.config.CACHE_DIR = before

    def made(self, args: Types) -> Any:
        """What Numba calls a result of compiling: remembered, loaded or compiled."""
        if args not in self.known:
            with global_compiler_lock, self.kernel._compiling_counter:
                found = self.files.load_overload(args, self.kernel.targetctx)
                self.known[args] = self._compiled(args) if found is None else found
        return self.known[args]

    def _compiled(self, args: Types) -> Any:
        data = {"dispatcher": self.kernel, "args": args, "return_type": None}
        with event.trigger_event("numba:compile", data=data), few_collections():
            made = self._compile(args)
        self.files.save_overload(args, made)
        return made

    def _flags(self) -> Any:
        flags = Flags()
        self.kernel.targetdescr.options.parse_as_flags(flags, self.kernel.targetoptions)
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
        return flags

    def _compile(self, args: Types) -> Any:
        raise NotImplementedError

    def can_be_kept(self, library: Any) -> bool:
        raise NotImplementedError

    def reduce(self, made: Any) -> Any:
        """What is kept on disk."""
        raise NotImplementedError

    def rebuild(self, kept: Any) -> Any:
        raise NotImplementedError


class Files(FunctionCache):
    """The files of one form."""

    def __init__(self, form: Form) -> None:
        self._impl_class = partial(Kept, form)
        super().__init__(form.kernel.py_func)


class Kept(CompileResultCacheImpl):
    """What is in the files of one form."""

    def __init__(self, form: Form, function: Callable[..., Any]) -> None:
        self.form = form
        super().__init__(function)

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        name = super().get_filename_base(fullname, abiflags)
        return f"{type(self.form).__name__.lower()}.{name}"

    def check_cachable(self, made: Any) -> bool:
        return self.form.can_be_kept(made.library)

    def reduce(self, made: Any) -> Any:
        made.fndesc.typemap = made.fndesc.calltypes = None  # large, and some cannot be pickled
        return self.form.reduce(made)

    def rebuild(self, target_context: Any, kept: Any) -> Any:
        return self.form.rebuild(kept)


class Code(Form):
    """LLVM code, for kernels that call this one."""

    def _compile(self, args: Types) -> Any:
        kernel = self.kernel
        library = Library(kernel.targetctx.codegen(), kernel.py_func.__qualname__)
        library.origin = kernel.known_as, args
        made = compiler.compile_extra(
            context(kernel.typingctx), kernel.targetctx, kernel.py_func, args=args,
            return_type=None, flags=self._flags(), locals={}, library=library,
            pipeline_class=Pipeline,
        )  # fmt: skip
        library.finalize()
        return self._callable(made._replace(type_annotation="", metadata=None))

    def _callable(self, made: Any) -> Any:
        """Known to Numba, for kernels that call it."""
        made = made._replace(entry_point=Entry())
        self.kernel.targetctx.insert_user_function(made.entry_point, made.fndesc, [made.library])
        return made

    def can_be_kept(self, library: Any) -> bool:
        library._finalize_dynamic_globals()
        return not library._dynamic_globals and all(
            "<" not in one.origin[0][1] for one in library.needed if isinstance(one, Library)
        )

    def reduce(self, made: Any) -> Any:
        library = made.library
        calls = [one.origin for one in library.needed if isinstance(one, Library)]
        bitcode = library.with_strangers().as_bitcode()
        return library.name, bitcode, calls, made.fndesc, made.environment, made.signature

    def rebuild(self, kept: Any) -> Any:
        name, bitcode, calls, fndesc, environment, signature = kept
        if any(known_as not in KERNELS for known_as, _ in calls):
            return None
        context = self.kernel.targetctx
        library = Library(context.codegen(), name)
        library.origin = self.kernel.known_as, signature.args
        library._final_module = llvm.parse_bitcode(bitcode)
        for one in (rtsys.library, *(KERNELS[k].code.made(args).library for k, args in calls)):
            library.add_linking_library(one)
        library.finalize()
        return self._callable(result(context, library, fndesc, environment, signature))


class Entered(Form):
    """Machine code with an address."""

    def _compile(self, args: Types) -> Any:
        kernel, flags = self.kernel, self._flags()
        code = kernel.code.made(args)
        context = compiler._make_subtarget(kernel.targetctx, flags)
        library = Linked(context.codegen(), code.library.name)
        library.enable_object_caching()
        with ConfigStack().enter(flags), context.push_code_library(library):
            self._enter(context, library, code)
        library.add_linking_library(code.library)
        return self._executable(context, library, code.fndesc, code.environment, code.signature)

    def _enter(self, context: Any, library: Linked, code: Any) -> None:
        """Put into the library what others enter it by."""
        library.kept = code.library

    def entry(self, fndesc: Any) -> str:
        """The name of what others enter it by."""
        return str(fndesc.llvm_func_name)

    def _executable(self, context: Any, library: Any, fndesc: Any, *others: Any) -> Any:
        environment, signature = others
        entry = context.get_executable(library, fndesc, environment)
        made = result(context, library, fndesc, environment, signature)
        return made._replace(entry_point=entry)

    def can_be_kept(self, library: Any) -> bool:
        return not library.has_dynamic_globals

    def reduce(self, made: Any) -> Any:
        library, found = made.library, made._find_referenced_environments()
        head = library.name, bytes(library._get_compiled_object()), tuple(found)
        return *head, made.fndesc, made.environment, made.signature

    def rebuild(self, kept: Any) -> Any:
        name, object_code, found, fndesc, environment, signature = kept
        context = self.kernel.targetctx
        library = Linked(context.codegen(), name)
        library.enable_object_caching()
        library._set_compiled_object(object_code)
        library._finalize_final_module()
        library.codegen._engine._defined_symbols.add(self.entry(fndesc))
        made = self._executable(context, library, fndesc, environment, signature)
        for one in found:
            library.codegen.set_env(one.env_name, one)
        return made


class Called(Entered):
    """Machine code that Python calls."""

    def _enter(self, context: Any, library: Linked, code: Any) -> None:
        environment, free = code.environment, self.kernel.targetoptions.get("nogil", False)
        context.create_cpython_wrapper(library, code.fndesc, environment, None, release_gil=free)

    def entry(self, fndesc: Any) -> str:
        return str(fndesc.llvm_cpython_wrapper_name)


class Entry:
    """Stands for the code of a kernel where Numba looks for a function."""


class Library(JITCodeLibrary):
    """The code of one kernel, and which libraries it needs; never loaded."""

    origin: Any = None  # the kernel, as it is known, and the types of its arguments

    def finalize(self) -> None:
        self._finalized = True

    @property
    def needed(self) -> list[Any]:
        return [one for one in dict.fromkeys(self._linking_libraries) if one is not rtsys.library]

    def alone(self) -> Any:
        """The module without what it calls, to be linked with others."""
        return super()._get_module_for_linking()

    def with_strangers(self) -> Any:
        """The module with the functions of Numba's own that it calls. Their names count up from 1
        in each process, so they must not meet those of another process: they become private."""
        strangers = [one for one in self.needed if not isinstance(one, Library)]
        module = self._final_module.clone() if strangers else self._final_module
        for one in map(module_of, strangers):
            module.link_in(one, preserve=True)
            names = {function.name for function in one.functions if not function.is_declaration}
            for function in module.functions:  # LLVM leaves out what nobody calls
                if function.name in names and function.name.startswith("_Z"):
                    function.linkage = "internal"
        return module

    def _get_module_for_linking(self) -> Any:
        """All in one, for a function that somebody else compiles and that calls a kernel."""
        whole = self.alone().clone()
        for module in modules(self)[1:]:
            whole.link_in(module, preserve=True)
        return whole


def module_of(library: Any) -> Any:
    return library.alone() if isinstance(library, Library) else library._get_module_for_linking()


def modules(library: Any) -> list[Any]:
    """The module of a library, and those of all it needs, once each. Who calls comes before who is
    called: LLVM links only what is asked for already."""
    found: dict[Any, Any] = {}

    def visit(one: Any) -> None:
        for needed in one._linking_libraries if isinstance(one, Library) else ():
            if needed not in found:
                visit(needed)
        found[one] = module_of(one)

    visit(library)
    return list(found.values())[::-1]


class Linked(JITCodeLibrary):
    """Machine code of a kernel and of all it calls."""

    kept: Library | None = None  # whose function stays although none calls it

    def finalize(self) -> None:
        self._raise_if_finalized()
        if self.kept is not None:
            self._final_module.link_in(self.kept._final_module, preserve=True)
        for library in dict.fromkeys(self._linking_libraries):
            for module in modules(library):
                self._final_module.link_in(module, preserve=True)
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()


class Pipeline(compiler.Compiler):
    """Numba's, with names that are the same in each process: code on disk calls code by name."""

    def define_pipelines(self) -> Any:
        named = self.state.func_id
        if "<" not in named.func_qualname:
            named.unique_id, named.unique_name = 0, named.func_qualname
        return super().define_pipelines()


class Context(typing.Context):
    """Numba's types of functions, with a memory: for each ``a + b`` it tries some ten rules."""

    def __init__(self, other: typing.Context) -> None:
        self.__dict__.update(other.__dict__)  # one and the same registers
        self.resolved: dict[Any, tuple[Any, Any]] = {}

    def _resolve_user_function_type(self, func: Any, args: Any, kws: Any, *more: Any) -> Any:
        function = self._lookup_global(func) or func
        if type(function) is not types.Function:  # those of kernels remember themselves
            return super()._resolve_user_function_type(func, args, kws, *more)
        key = id(function), args, tuple(kws.items()), ConfigStack.top_or_none()
        known, found = self.resolved.get(key, (None, None))
        if known is not function:
            found = super()._resolve_user_function_type(func, args, kws, *more)
            self.resolved[key] = function, found
        return found


@cache
def context(other: typing.Context) -> Context:
    return Context(other)


class Flags(compiler.Flags):
    """Compared very often: by what is set, not by all there is."""

    def __hash__(self) -> int:
        return hash(tuple(self._values))

    def __eq__(self, other: object) -> bool:
        return type(other) is Flags and self._values == other._values


def result(context: Any, library: Any, fndesc: Any, environment: Any, signature: Any) -> Any:
    return compiler.compile_result(
        typing_context=context.typing_context, target_context=context, library=library,
        fndesc=fndesc, environment=environment, signature=signature, objectmode=False,
        typing_error=None, lifted=(), reload_init=[],
    )  # fmt: skip


@contextmanager
def few_collections() -> Iterator[None]:
    """Python looks for garbage seldom: the compiler makes millions of objects that stay."""
    before = gc.get_threshold()
    if before[0] and before[0] < COLLECT:
        gc.set_threshold(COLLECT, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
