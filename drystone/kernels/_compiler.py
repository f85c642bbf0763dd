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

The contract:

* No number depends on it: without fast-math, LLVM keeps IEEE arithmetic whatever it inlines.
* One name means one thing, whichever process wrote it. Code on disk calls code by name; a name
  contains a hash of the kernel's sources and options (``Kernel.digest``), and its mangled part
  the types of its arguments. What has no such name (functions of Numba's own, numbered from 1 in
  each process) is taken into the code that calls it and becomes invisible outside. Of machine
  code nothing is visible but the one function that is entered; the names of its inner functions
  end with a hash of that one's.
* What a name stands for never changes once it is made: what Python needs to enter a kernel has an
  environment of its own beside that of the code.
* One file holds one form for one list of types (``_files``): processes that compile at the same
  time write the same files with the same meaning, each at once as a whole.
* What holds addresses of this process, or calls a function that is not the same in another one
  (defined within a function), is never kept (``Library.is_kept``).
* It builds on parts of Numba that are not public: with versions it was not tested with
  (``TESTED``), ``_jit`` uses Numba's own decorator.
"""

from __future__ import annotations

import gc
import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import llvmlite.binding as llvm
from numba.core import compiler, event, sigutils, types, typing
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.targetconfig import ConfigStack

from drystone.kernels._files import Files

TESTED = ("0.68",)  # versions of Numba whose inner parts are as this module expects
LOAD = "drystone:load"  # the event of looking for a form on disk, for those who time it
COLLECT = 200_000  # objects that the compiler may make before Python looks for garbage
HIDDEN = ("internal", "private")  # what no other module sees
UNRESOLVED = RuntimeLinker.PREFIX
ENVIRONMENT = "_ZN08NumbaEnv"  # begins the name of a pointer to what Numba keeps for a function
Types = tuple[Any, ...]  # of arguments


def is_tested(version: str) -> bool:
    return version.rpartition(".")[0] in TESTED


class Kernel(CPUDispatcher):
    """What the decorators of ``_jit`` return: called from Python, from kernels, or by address."""

    def __init__(
        self,
        function: Callable[..., Any],
        folder: Path,
        sources: frozenset[str],
        options: dict[str, Any],
    ) -> None:
        """sources: names of the modules that the name of the folder is a hash of; none if the
        kernel's own is not known."""
        super().__init__(function, targetoptions={"nopython": True, **options})
        self.sources = sources
        place = function.__module__, function.__qualname__, function.__code__.co_firstlineno
        self.known_as = repr((folder.name, place, sorted(options.items())))
        self.digest = hashlib.sha256(self.known_as.encode()).hexdigest()[:16]
        # whether its name says all: the same function for whoever imports the module
        self.is_named = "<" not in function.__qualname__ and bool(sources)
        if self.is_named:
            KERNELS[self.known_as] = self
        self.files = Files(folder, function.__qualname__, self.known_as)
        self.code, self.entered, self.called = Code(self), Entered(self), Called(self)

    def __reduce__(self) -> Any:
        """Pickled by name, as functions are."""
        return found, (self.py_func.__module__, self.known_as)

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


KERNELS: WeakValueDictionary[str, Kernel] = WeakValueDictionary()  # by the names they have on disk


def found(module: str, known_as: str) -> Kernel:
    import_module(module)
    return KERNELS[known_as]


class Form:
    """One form of a kernel, for all types of arguments it was asked for."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.name = type(self).__name__.lower()
        self.known: dict[Types, Any] = {}

    def made(self, args: Types) -> Any:
        """What Numba calls a result of compiling: remembered, loaded or compiled."""
        if args not in self.known:
            with global_compiler_lock, self.kernel._compiling_counter:
                self.known[args] = self._loaded(args) or self._compiled(args)
        return self.known[args]

    def _loaded(self, args: Types) -> Any:
        with event.trigger_event(LOAD):
            self.kernel.targetctx.refresh()
            kept = self.kernel.files.load(self.name, args)
            return None if kept is None else self.rebuild(kept)

    def _compiled(self, args: Types) -> Any:
        data = {"dispatcher": self.kernel, "args": args, "return_type": None}
        with event.trigger_event("numba:compile", data=data), few_collections():
            made = self._compile(args)
        made.fndesc.typemap = made.fndesc.calltypes = None  # large, and some cannot be pickled
        if self.is_kept(made):
            self.kernel.files.save(self.name, args, self.reduce(made))
        return made

    def _flags(self) -> Any:
        flags = Flags()
        self.kernel.targetdescr.options.parse_as_flags(flags, self.kernel.targetoptions)
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
        return flags

    def _compile(self, args: Types) -> Any:
        raise NotImplementedError

    def is_kept(self, made: Any) -> bool:
        """Whether what was made means the same in another process."""
        raise NotImplementedError

    def reduce(self, made: Any) -> Any:
        """What is kept on disk."""
        raise NotImplementedError

    def rebuild(self, kept: Any) -> Any:
        """None if it cannot be used here."""
        raise NotImplementedError


class Code(Form):
    """LLVM code, for kernels that call this one."""

    def _compile(self, args: Types) -> Any:
        kernel = self.kernel
        library = Library(kernel.targetctx.codegen(), kernel.py_func.__qualname__)
        library.origin = kernel, args
        made = compiler.compile_extra(
            context(kernel.typingctx), kernel.targetctx, kernel.py_func, args=args,
            return_type=None, flags=self._flags(), locals={}, library=library,
            pipeline_class=pipeline(kernel),
        )  # fmt: skip
        library.absorb(made.fndesc)
        library.finalize()
        return self._callable(made._replace(type_annotation="", metadata=None))

    def _callable(self, made: Any) -> Any:
        """Known to Numba, for kernels that call it."""
        made = made._replace(entry_point=Entry())
        self.kernel.targetctx.insert_user_function(made.entry_point, made.fndesc, [made.library])
        return made

    def is_kept(self, made: Any) -> bool:
        return bool(made.library.is_kept)

    def reduce(self, made: Any) -> Any:
        calls = [(one.origin[0].known_as, one.origin[1]) for one in made.library.needed]
        bitcode = made.library._final_module.as_bitcode()
        return made.library.name, bitcode, calls, made.fndesc, made.environment, made.signature

    def rebuild(self, kept: Any) -> Any:
        name, bitcode, calls, fndesc, environment, signature = kept
        if any(known_as not in KERNELS for known_as, _ in calls):
            return None
        context = self.kernel.targetctx
        library = Library(context.codegen(), name)
        library.origin = self.kernel, signature.args
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
        library.entry, library.is_kept = self.entry(code.fndesc), code.library.is_kept_whole()
        with ConfigStack().enter(flags), context.push_code_library(library):
            fndesc, environment = self._enter(context, library, code)
        library.add_linking_library(code.library)
        return self._executable(context, library, fndesc, environment, code.signature)

    def _enter(self, context: Any, library: Linked, code: Any) -> tuple[Any, Any]:
        """Put into the library what others enter it by, beside the code: its description and
        environment."""
        return code.fndesc, code.environment

    def entry(self, fndesc: Any) -> str:
        """The name of what others enter it by."""
        return str(fndesc.llvm_func_name)

    def _executable(self, context: Any, library: Any, fndesc: Any, *others: Any) -> Any:
        environment, signature = others
        entry = context.get_executable(library, fndesc, environment)
        made = result(context, library, fndesc, environment, signature)
        return made._replace(entry_point=entry)

    def is_kept(self, made: Any) -> bool:
        return bool(made.library.is_kept)

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

    def _enter(self, context: Any, library: Linked, code: Any) -> tuple[Any, Any]:
        # An environment holds the objects that a function needs, by number, and is found by name.
        # Results are given to Python by more objects than the code alone needs.
        fndesc = copy(code.fndesc)
        fndesc.env_name = f"{code.fndesc.env_name}.called"
        environment = Environment.from_fndesc(fndesc)
        free = self.kernel.targetoptions.get("nogil", False)
        context.create_cpython_wrapper(library, fndesc, environment, None, release_gil=free)
        return fndesc, environment

    def entry(self, fndesc: Any) -> str:
        return str(fndesc.llvm_cpython_wrapper_name)


class Entry:
    """Stands for the code of a kernel where Numba looks for a function."""


class Library(JITCodeLibrary):
    """The code of one kernel, and which kernels it calls; never loaded."""

    origin: Any = None  # the kernel, and the types of its arguments
    is_kept = True  # nothing in it belongs to this process alone

    def finalize(self) -> None:
        self._finalized = True

    @property
    def needed(self) -> list[Library]:
        return [one for one in dict.fromkeys(self._linking_libraries) if isinstance(one, Library)]

    def is_kept_whole(self) -> bool:
        """Whether that is true of all it calls as well."""
        return all(one.is_kept for one in libraries(self))

    def absorb(self, fndesc: Any) -> None:
        """Take in the functions of Numba's own that it calls, invisible outside, and see whether
        all that is left means the same in each process."""
        module = self._final_module
        for one in dict.fromkeys(self._linking_libraries):
            if one is not rtsys.library and not isinstance(one, Library):
                module.link_in(one._get_module_for_linking(), preserve=True)
        for function in module.functions:
            own = function.is_declaration or function.name == fndesc.llvm_func_name
            if not own and not function.name.startswith("NRT_"):  # those are the same everywhere
                function.linkage = "internal"
        self.is_kept = self._hide(module, fndesc.env_name) and self._is_named()

    def _hide(self, module: Any, own: str) -> bool:
        """Whether no data but the pointer to the kernel's own environment is seen outside."""
        seen = [one for one in module.global_variables if one.linkage.name not in HIDDEN]
        if any(one.name.startswith(UNRESOLVED) for one in seen):  # it calls itself
            return False
        seen = [one for one in seen if not one.is_declaration and one.name != own]
        text = str(module) if seen else ""
        for one in seen:
            if not one.name.startswith(ENVIRONMENT) or is_used(text, one.name):
                return False
            one.linkage = "internal"
        return True

    def _is_named(self) -> bool:
        """Whether the kernel, the types it takes and the kernels it calls are the same for all."""
        kernel, args = self.origin
        called = [one.origin[0] for one in self.needed]
        return (
            all(one.is_named for one in (kernel, *called))
            and all(one.py_func.__module__ in kernel.sources for one in called)
            and " at 0x" not in str(args)
        )

    def _get_module_for_linking(self) -> Any:
        """All in one, for a function that somebody else compiles and that calls a kernel."""
        whole = self.shared().clone()
        for library in libraries(self)[1:]:
            whole.link_in(library.shared(), preserve=True)
        whole.link_in(rtsys.library._get_module_for_linking(), preserve=True)
        return whole

    def shared(self) -> Any:
        """The module without what it calls, to be linked with others."""
        return super()._get_module_for_linking()


def is_used(text: str, name: str) -> bool:
    """Whether a global stands in LLVM's text elsewhere than in the line that defines it."""
    return len(re.findall(rf'@"?{re.escape(name)}(?![\w.$-])', text)) > 1


def libraries(library: Library) -> list[Library]:
    """A library and all that it needs, once each. Who calls comes before who is called: LLVM
    links only what is asked for already."""
    found: dict[Library, None] = {}

    def visit(one: Library) -> None:
        for needed in one.needed:
            if needed not in found:
                visit(needed)
        found[one] = None

    visit(library)
    return list(found)[::-1]


class Linked(JITCodeLibrary):
    """Machine code of a kernel and of all it calls."""

    entry = ""  # the one function that others see
    is_kept = True

    def finalize(self) -> None:
        self._raise_if_finalized()
        (code,) = self._linking_libraries
        self._final_module.link_in(code._final_module, preserve=True)
        for library in libraries(code)[1:]:
            self._final_module.link_in(library.shared(), preserve=True)
        self._final_module.link_in(rtsys.library._get_module_for_linking(), preserve=True)
        for function in self._inner():
            function.linkage = "internal"
        self._optimize_final_module()
        # The loader knows all functions by name, the inner ones too, and has the last of each name
        # stand for all: its arguments may be passed in another way than those of the first.
        mark = hashlib.sha256(self.entry.encode()).hexdigest()[:16]
        for function in self._inner():
            function.name = f"{function.name}.{mark}"
        self._final_module.verify()
        self._finalize_final_module()

    def _inner(self) -> list[Any]:
        """The functions that nobody enters."""
        found = self._final_module.functions
        return [one for one in found if not one.is_declaration and one.name != self.entry]


def pipeline(kernel: Kernel) -> Any:
    """Numba's compiler, with the kernel's own number in names instead of one that counts up."""

    class Pipeline(compiler.Compiler):
        def define_pipelines(self) -> Any:
            named = self.state.func_id
            if kernel.is_named:
                named.unique_id = int(kernel.digest, 16)
                named.unique_name = f"{named.func_qualname}${kernel.digest}"
            return super().define_pipelines()

    return Pipeline


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
