# What the interpreter of a worker runs. By the time it runs, the process has given up everything; this program reads the author's code, calls
# it, and writes down what it returns. It is not what keeps the code from anything: whatever the code does to it concerns the answers of that same code.
#
# Names are looked up once, at the start, so that code which replaces a builtin gets wrong answers only about itself.


def serve():
    import builtins
    import gc
    import posix
    import sys
    from _io import BytesIO, TextIOWrapper
    from _contextvars import copy_context
    from _json import encode_basestring_ascii as quoted, make_scanner

    requests, replies = int(sys.argv[1]), int(sys.argv[2])
    if len(sys.argv) > 3:
        # It was started without looking for its packages, and is told where they are.
        sys.prefix, sys.exec_prefix = sys.argv[3:5]
        sys.path[:] = sys.argv[5:]
        from _sitebuiltins import Quitter

        builtins.exit, builtins.quit = Quitter("exit", ""), Quitter("quit", "")
    elif sys.path and sys.path[0] == "":
        del sys.path[0]
    sys.argv[:] = ["evaluator"]
    set_digits = getattr(sys, "set_int_max_str_digits", None)
    if set_digits:
        set_digits(0)

    class Context:
        strict = True
        object_hook = object_pairs_hook = None
        parse_float, parse_int = float, int
        parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": -float("inf")}.__getitem__

    class NotKept(Exception):
        pass

    scan = make_scanner(Context())
    Module = type(sys)
    read, write = posix.read, posix.write
    type_, isinstance_, repr_, len_, callable_, compile_, exec_ = type, isinstance, repr, len, callable, compile, exec
    str_, int_, float_, dict_, list_, tuple_, bytes_, complex_ = str, int, float, dict, list, tuple, bytes, complex
    set_, frozenset_, bytearray_, bool_, memoryview_ = set, frozenset, bytearray, bool, memoryview
    base_exception, unicode_error, syntax_error = BaseException, UnicodeEncodeError, SyntaxError
    os_error, module_not_found = OSError, ModuleNotFoundError
    from_bytes, get_limit, set_limit = int.from_bytes, sys.getrecursionlimit, sys.setrecursionlimit
    modules = sys.modules
    usual_limit = get_limit()
    built_in = builtins.__dict__
    as_built = built_in.copy()

    def receive(size):
        parts = []
        while size:
            part = read(requests, size if size < 1048576 else 1048576)
            if not part:
                posix._exit(0)
            parts.append(part)
            size -= len_(part)
        return parts[0] if len_(parts) == 1 else b"".join(parts)

    def send(target, data):
        sent = write(target, data)
        if sent < len_(data):
            view = memoryview_(data)
            while sent < len_(data):
                sent += write(target, view[sent:])

    def number(value):
        return int_.to_bytes(value, 8, "little")

    def framed(kind, body):
        return int_.to_bytes(len_(body) + 1, 4, "little") + kind + body

    def message():
        head = receive(5)
        return head[4:5], receive(from_bytes(head[:4], "little") - 1)

    def parsed(text):
        return scan(text, 0)[0]

    name = "<evaluator>"
    code = entry = max_output = max_value = max_depth = fresh = forks = harden = explains = None
    shared = {}

    # Writing values down.

    def text_of(value):
        text = quoted(value)
        if "\\ud" in text:
            try:
                str_.encode(value, "utf-8")
            except unicode_error:
                return '{"$py":"object","type":"str","repr":%s}' % quoted(str_.__repr__(value))
        return text

    def is_unicode(value):
        return value.isascii() or text_of(value)[0] == '"'

    def float_of(value):
        if value != value:
            return '{"$py":"nan"}'
        if value in (float_("inf"), float_("-inf")):
            return '{"$py":"inf"}' if value > 0 else '{"$py":"-inf"}'
        return float_.__repr__(value)

    def int_of(value):
        text = int_.__repr__(value)
        return text if -(1 << 63) <= value < 1 << 63 else '{"$py":"int","value":"%s"}' % text

    def items_of(values, depth):
        return "[" + ",".join([tagged(it, depth) for it in values]) + "]"

    def dict_of(value, depth):
        parts = []
        for key, it in dict_.items(value):
            if type_(key) is not str_ or key in ("$py", "$js") or not is_unicode(key):
                pairs = [items_of(it, depth + 1) for it in dict_.items(value)]
                return '{"$py":"dict","items":[' + ",".join(pairs) + "]}"
            parts.append(text_of(key) + ":" + tagged(it, depth))
        return "{" + ",".join(parts) + "}"

    def tagged(value, depth=0):
        kind = type_(value)
        if kind is str_:
            return text_of(value)
        if value is None:
            return "null"
        if value is True:
            return "true"
        if value is False:
            return "false"
        if kind is float_:
            return float_of(value)
        if kind is int_:
            return int_of(value)
        if depth >= max_depth:
            raise NotKept("it is nested deeper than %d levels" % max_depth)
        depth += 1
        if kind is dict_ or isinstance_(value, dict_):
            return dict_of(value, depth)
        if kind is list_ or isinstance_(value, list_):
            return items_of(list_.__iter__(value), depth)
        if isinstance_(value, str_):
            return text_of(str_.__str__(value))
        if isinstance_(value, int_):
            return int_of(int_.__int__(value))
        if isinstance_(value, float_):
            return float_of(float_.__float__(value))
        if isinstance_(value, tuple_):
            return '{"$py":"tuple","items":%s}' % items_of(tuple_.__iter__(value), depth)
        if isinstance_(value, (set_, frozenset_)):
            return '{"$py":"set","items":%s}' % items_of(value, depth)
        if isinstance_(value, (bytes_, bytearray_)):
            return '{"$py":"bytes","latin1":%s}' % quoted(bytes_(value).decode("latin-1"))
        if isinstance_(value, complex_):
            return '{"$py":"complex","re":%s,"im":%s}' % (float_of(value.real), float_of(value.imag))
        shown = repr_(value)
        if len_(shown) > 2000:
            shown = shown[:2000] + "\u2026"
        shown = shown.encode("utf-8", "backslashreplace").decode()
        return '{"$py":"object","type":%s,"repr":%s}' % (text_of(kind.__name__[:200]), text_of(shown))

    # What is printed: the end of it is kept.

    class Tail(BytesIO):
        dropped = 0

        def write(self, data):
            written = BytesIO.write(self, data)
            if BytesIO.tell(self) > 2 * max_output:
                self.shorten()
            return written

        def shorten(self):
            kept = BytesIO.getvalue(self)
            excess = len_(kept) - max_output
            if excess > 0:
                self.dropped += excess
                BytesIO.seek(self, 0)
                BytesIO.truncate(self)
                BytesIO.write(self, kept[excess:])

    def printer():
        tail = Tail()
        return tail, TextIOWrapper(tail, "utf-8", "backslashreplace", "\n", False, True)

    def printed(tail, wrapper):
        try:
            if not BytesIO.tell(tail):
                return nothing, True
            tail.shorten()
            kept = BytesIO.getvalue(tail)
            return number(tail.dropped) + number(len_(kept)) + kept, False
        except base_exception:
            # The code closed it.
            return nothing, False

    nothing = number(0) + number(0)

    # What calls leave in modules. Modules that the source imports are imported before the first call and looked at after each, and what a call changed there is put
    # back: their names, the names of their classes, what their lists, dictionaries and sets hold, and where their random numbers begin. What other objects hold is not
    # looked at; `isolation: fork` is for that.

    definite, optional, watched = [], [], []
    names_of_sys = loaded = None
    # The number of names that are looked at after each call. A hundred of them take half a microsecond.
    most_names = 6000
    caches = ("_cache", "_cache2", "cache", "path_importer_cache", "__warningregistry__")

    def note_imports(tree):
        todo = [tree]
        while todo:
            node = todo.pop()
            kind = type_(node).__name__
            if kind == "Import":
                definite.extend([it.name for it in node.names])
            elif kind == "ImportFrom" and not node.level and node.module:
                definite.append(node.module)
                optional.extend([(node.module, it.name) for it in node.names])
            elif isinstance_(node, list_):
                todo.extend(node)
            elif kind not in ("If", "ExceptHandler", "Match", "While") and hasattr(node, "_fields"):
                todo.extend([getattr(node, it, None) for it in node._fields])

    def imported(name):
        try:
            __import__(name)
        except base_exception:
            # The call that needs it says so in its own words.
            pass

    def import_all():
        for it in definite:
            imported(it)
        for above, it in optional:
            if hasattr(modules.get(above), "__path__") and not hasattr(modules[above], it):
                imported(above + "." + it)

    def watch():
        nonlocal names_of_sys, loaded
        loaded = modules.copy()
        loaded.pop("evaluator", None)
        watched.clear()
        found = [modules.get(it) for it in definite] + [modules.get(above + "." + it) for above, it in optional]
        found = list_({id(it): it for it in found if type_(it) is Module and it is not builtins}.values())
        # Those that the source names, and then their submodules as far as there is room.
        n_named, room = len_(found), most_names
        for module in found:
            names = module.__dict__
            n_named -= 1
            if n_named < 0 and room < most_names // 2 + len_(names):
                break
            watched.append((names, names.copy(), None))
            room -= len_(names)
            if module is sys:
                names_of_sys = watched[-1][1]
            if module.__name__ in ("random", "numpy.random"):
                watched.append((None, None, module.seed))
            for name, value in names.copy().items():
                if type_(value) is Module and value.__name__.startswith(module.__name__ + ".") and value not in found:
                    found.append(value)
                else:
                    room -= watch_value(module, name, value, room)

    def watch_value(module, name, value, room):
        live = owner = None
        if name == "environ":
            live = getattr(value, "_data", None)
        elif type_(value) in (dict_, list_, set_):
            live = value if value is not modules and name not in caches else None
        elif isinstance_(value, type_) and value.__flags__ & 512 and value.__module__.startswith(module.__name__):
            # A class that was made by a statement, and belongs to this module.
            live, owner = value.__dict__, value
        if live is None or (len_(live) > room and name != "environ"):
            return 0
        watched.append((live, live.copy(), owner))
        return len_(live)

    def is_loaded(name, module):
        spec = getattr(module, "__spec__", None)
        return type_(module) is Module and getattr(spec, "name", None) == name

    def put_back_modules():
        # What was imported stays; what only has the name of a module does not.
        for name in [it for it in modules if it not in loaded and it != "evaluator"]:
            if not is_loaded(name, modules[name]):
                del modules[name]
        for name, module in loaded.items():
            if modules.get(name) is not module:
                modules[name] = module

    def put_back():
        modules.pop("evaluator", None)
        if modules != loaded:
            put_back_modules()
        is_larger = len_(modules) != len_(loaded)
        for live, saved, owner in watched:
            if live is None:
                owner()
                continue
            try:
                is_same = live == saved
            except base_exception:
                is_same = False
            if not is_same:
                restore(live, saved, owner, is_larger)
        if is_larger:
            watch()

    def restore(live, saved, owner, is_larger):
        if type_(live) is list_:
            live[:] = saved
        elif type_(live) is set_:
            live.clear()
            live.update(saved)
        elif owner is not None:
            for name in [it for it in live if it not in saved]:
                type_.__delattr__(owner, name)
            for name in [it for it in saved if live.get(it, live) is not saved[it]]:
                type_.__setattr__(owner, name, saved[name])
        else:
            for name in [it for it in live if it not in saved]:
                # A module that was loaded meanwhile is a name of the package above it, and stays.
                if not (is_larger and type_(live[name]) is Module and modules.get(live[name].__name__) is live[name]):
                    del live[name]
            live.update(saved)

    # Calling.

    def line_of(error):
        line, trace = None, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == name:
                line = trace.tb_lineno
            trace = trace.tb_next
        return line

    # What the sandbox refuses looks like a fault of the machine, so the sandbox says that it was itself, and what would do instead.

    no_files = (
        "the sandbox shows evaluators no files; pass the content as an argument (`with: {words: {value: [...]}}`, or a column of the records), "
        "or put it into the source"
    )
    no_writing = "the sandbox writes no files; return or print what is to be kept"
    no_network = "the sandbox has no network; let a `judge` or a model ask, or put what is needed into the records"
    no_programs = "the sandbox starts no programs; use a library in Python, or an agent"
    no_module = (
        "the interpreter of this evaluator has no such module; name an environment that has it (`python: path/to/venv`), "
        "and put code of your own into the source: files beside it cannot be imported"
    )

    def refusal_of(error):
        for _ in range(8):
            if isinstance_(error, module_not_found):
                return no_module
            if isinstance_(error, os_error) and (refusal := refusal_of_system(error)):
                return refusal
            reason = getattr(error, "reason", None)
            error = reason if isinstance_(reason, base_exception) else error.__cause__ or error.__context__
            if error is None:
                return None

    def refusal_of_system(error):
        places, trace = [], error.__traceback__
        while trace is not None:
            places.append(trace.tb_frame.f_code.co_filename.rpartition("/")[2])
            trace = trace.tb_next
        if "subprocess.py" in places or any([it.startswith("popen_") for it in places]):
            return no_programs
        if type_(error).__name__ == "gaierror" or "socket.py" in places:
            return no_network
        # Not found, not permitted, no permission, a file system that is read only.
        if error.errno not in (1, 2, 13, 30):
            return None
        if error.filename is not None:
            # Opening to write is not permitted at all; to read, it depends on the file.
            return no_writing if error.errno == 1 else no_files
        return "the sandbox refused it: evaluators have no files, no network and no other programs" if error.errno == 1 else None

    def described(error):
        try:
            line = line_of(error)
        except base_exception:
            line = None
        try:
            words = str_(error)
            if type_(words) is not str_:
                words = ""
        except base_exception:
            words = "(what it says cannot be told)"
        words = words.encode("utf-8", "backslashreplace").decode()
        if len_(words) > 8000:
            words = words[:8000] + "\u2026"
        try:
            refusal = refusal_of(error) if explains else None
        except base_exception:
            refusal = None
        if refusal is not None:
            words = "%s; %s" % (words, refusal) if words else refusal
        kind = type_.__getattribute__(type_(error), "__name__")
        if len_(kind) > 200:
            kind = kind[:200] + "\u2026"
        return '{"kind":%s,"message":%s,"line":%s}' % (quoted(kind), quoted(words), "null" if line is None else "%d" % line)

    def awaited(value):
        import asyncio

        async def whole():
            return await value

        return asyncio.run(whole())

    def names():
        module = Module("evaluator")
        modules["evaluator"] = module
        scope = module.__dict__
        scope["__builtins__"] = builtins
        exec_(code, scope)
        return scope

    def call(text):
        arguments = parsed(text)
        if fresh:
            scope = names()
        else:
            if not shared:
                shared.update(names())
            scope = shared
        function = scope.get(entry)
        if not callable_(function):
            raise NameError("there is no function `%s`" % entry)
        # Settings that belong to a context, those of `decimal` for example, end with the call.
        value = copy_context().run(function, **arguments)
        if hasattr(type_(value), "__await__"):
            value = awaited(value)
        return value

    def answer(text, streams):
        stdout, stderr = streams
        sys.stdout, sys.stderr = stdout[1], stderr[1]
        if fresh and not forks and loaded is None:
            import_all()
            watch()
        if names_of_sys is not None:
            names_of_sys["stdout"], names_of_sys["stderr"] = stdout[1], stderr[1]
        try:
            value = call(text)
            try:
                kind, result = b"V", tagged(value)
                if len_(result) > max_value:
                    raise NotKept("it has %d bytes, more than %d" % (len_(result), max_value))
            except NotKept as error:
                kind, result = b"N", error.args[0]
        except base_exception as error:
            if fresh and built_in != as_built:
                built_in.clear()
                built_in.update(as_built)
            kind, result = b"E", described(error)
        if fresh:
            if built_in != as_built:
                built_in.clear()
                built_in.update(as_built)
            if sys.gettrace() is not None:
                sys.settrace(None)
            if sys.getprofile() is not None:
                sys.setprofile(None)
            if get_limit() != usual_limit:
                set_limit(usual_limit)
            if set_digits and sys.get_int_max_str_digits():
                set_digits(0)
            if not gc.isenabled():
                gc.enable()
            if loaded is not None:
                put_back()
        first, out_unused = printed(*stdout)
        second, err_unused = printed(*stderr)
        if not (out_unused and err_unused):
            streams[:] = [printer(), printer()]
        return kind, first + second + result.encode()

    # A copy of the process for each call. It gives up making copies of its own before it reads anything of the author's.

    def harden_copies(filter_):
        try:
            import ctypes
        except ImportError:
            raise RuntimeError("`isolation: fork` needs an interpreter that has `ctypes`") from None

        class Instruction(ctypes.Structure):
            _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]

        class Program(ctypes.Structure):
            _fields_ = [("length", ctypes.c_ushort), ("first", ctypes.POINTER(Instruction))]

        instructions = (Instruction * len(filter_))(*[tuple(it) for it in filter_])
        program = Program(len(filter_), instructions)
        library = ctypes.CDLL(None, use_errno=True)

        own = posix.getpid()

        def harden():
            if library.prctl(1, 9, 0, 0, 0) != 0 or (filter_ and library.prctl(22, 2, ctypes.byref(program)) != 0):
                raise OSError(ctypes.get_errno(), "a copy cannot be hardened")
            # An original that ended before the request sends no signal.
            if posix.getppid() != own:
                posix._exit(1)

        return harden

    def answer_in_copy(text):
        source, target = posix.pipe2(posix.O_CLOEXEC)
        child = posix.fork()
        if child == 0:
            try:
                posix.close(requests)
                posix.close(replies)
                posix.close(source)
                harden()
                kind, body = answer(text, [printer(), printer()])
                send(target, kind + body)
            finally:
                posix._exit(0)
        posix.close(target)
        parts, size = [], 0
        while True:
            part = read(source, 1048576)
            if not part:
                break
            size += len_(part)
            if size < 2 * max_output + max_value + 65536:
                parts.append(part)
        posix.close(source)
        status = posix.waitpid(child, 0)[1]
        body = b"".join(parts)
        if len_(body) > 32 and len_(body) == size:
            return body[:1], body[1:]
        if posix.WIFSIGNALED(status):
            how = "ended by signal %d" % posix.WTERMSIG(status)
        else:
            how = "exited with status %d" % posix.WEXITSTATUS(status)
        return b"D", nothing + nothing + how.encode()

    # The source is parsed and compiled, and what its function takes is read from the tree.

    def signature_in(tree):
        found = None
        for node in tree.body:
            if type_(node).__name__ in ("FunctionDef", "AsyncFunctionDef") and node.name == entry:
                found = node
        if found is None:
            return "null"
        given = found.args
        positional = given.posonlyargs + given.args
        n_required = len_(positional) - len_(given.defaults)
        taken = [(it, ix < n_required) for ix, it in enumerate(positional)]
        taken += [(it, default is None) for it, default in zip(given.kwonlyargs, given.kw_defaults)]
        parts = [
            '{"name":%s,"is_required":%s,"line":%d,"column":%d}'
            % (quoted(it.arg), "true" if required else "false", it.lineno, it.col_offset + 1)
            for it, required in taken
        ]
        return '{"parameters":[%s],"is_open":%s,"passing":"keywords","line":%d}' % (
            ",".join(parts),
            "true" if given.kwarg else "false",
            found.lineno,
        )

    def wrong(words, line=None, column=None):
        where = ["null" if it is None else "%d" % it for it in (line, column)]
        words = str_(words).encode("utf-8", "backslashreplace").decode()
        send(replies, framed(b"W", ('{"message":%s,"line":%s,"column":%s}' % (quoted(words), *where)).encode()))
        posix._exit(0)

    def load(job):
        nonlocal code, entry, max_output, max_value, max_depth, fresh, forks, harden, explains
        entry, max_output, max_value, max_depth = job["entry"], job["output"], job["value"], job["depth"]
        fresh, forks, explains = job["fresh"], job["isolation"] == "fork", job["explains"]
        shared.clear()
        try:
            tree = compile_(job["text"], name, "exec", 0x400, True)
            code = compile_(tree, name, "exec", 0, True)
        except syntax_error as error:
            wrong("%s: %s" % (type_(error).__name__, error.msg), error.lineno, error.offset)
        except base_exception as error:
            wrong("%s: %s" % (type_(error).__name__, error))
        if fresh and not forks:
            note_imports(tree)
        if forks:
            try:
                harden = harden_copies(job["filter"])
            except base_exception as error:
                wrong(error)
        send(replies, framed(b"Y", signature_in(tree).encode()))

    def answer_all(body, streams):
        first, place = from_bytes(body[:8], "little"), 8
        while place < len_(body):
            size = from_bytes(body[place : place + 8], "little")
            text = body[place + 8 : place + 8 + size].decode()
            place += 8 + size
            kind, result = answer_in_copy(text) if forks else answer(text, streams)
            send(replies, framed(kind, number(first) + result))
            first += 1

    modules["__main__"] = Module("__main__")
    streams = None
    while True:
        kind, body = message()
        if kind == b"J":
            load(parsed(body.decode()))
            streams = [printer(), printer()]
            gc.collect()
            gc.freeze()
        else:
            answer_all(body, streams)


serve()
