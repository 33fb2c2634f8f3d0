"""A fake of Amazon WorkSpaces for tests.

Each request is checked against botocore's own description of the service, and its signature is computed again with botocore. Desktops
move through their states in real time. Faults and limits are set by `POST /control`; `GET /control` returns the desktops and the log of
all calls. Prints its port, and ends when its standard input is closed.

`POST /control` takes an object with any of:

- `desktops`: {id: {member: value}} to add or to change; `seconds`: how long a transition takes; `visible`: after how long a described state is
  the current one (a stale read until then)
- `gone`: [id] to remove, as a person does in the console of AWS
- `rate`: {"perSecond", "burst"} for all calls, or null
- `keys`: the access key ids that are valid; others have expired
- `faults`: [{"operation": name or "*", "kind", "count" or "rate"}], in place of those before. Kinds: `throttle`, `unavailable`,
  `denied` refuse the call; `lost` closes the connection after the effect, `dropped` before it; `failed` lets an effect be answered
  with status 500; `partial` refuses every second desktop of a batch, `refused` all; `later` delays the answer by `seconds`
- `seed`: of the faults with a rate

It is also the metadata service of an instance with a role, and at `/container` that of a container.
"""

import json
import random
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.validate import ParamValidator

SECRET = "secret"
MODEL = botocore.session.get_session().get_service_model("workspaces")

# Operation: the states that allow it, the state during it, the state after it (None: the one before; "": gone).
TRANSITIONS = {
    "RebootWorkspaces": ({"AVAILABLE", "UNHEALTHY", "IMPAIRED", "REBOOTING"}, "REBOOTING", "AVAILABLE"),
    "StartWorkspaces": ({"STOPPED"}, "STARTING", "AVAILABLE"),
    "StopWorkspaces": ({"AVAILABLE", "IMPAIRED", "UNHEALTHY", "ERROR"}, "STOPPING", "STOPPED"),
    "TerminateWorkspaces": (None, "TERMINATING", ""),
    "RebuildWorkspaces": ({"AVAILABLE", "ERROR", "UNHEALTHY", "STOPPED", "REBOOTING"}, "REBUILDING", "AVAILABLE"),
    "RestoreWorkspace": ({"AVAILABLE", "ERROR", "UNHEALTHY", "STOPPED"}, "RESTORING", "AVAILABLE"),
    "ModifyWorkspaceProperties": ({"AVAILABLE", "STOPPED"}, "UPDATING", None),
}


class Refusal(Exception):
    def __init__(self, code, message, status=400):
        super().__init__(message)
        self.code, self.status = code, status


class Fake:
    def __init__(self):
        self.lock = threading.Lock()
        self.desktops = {}
        self.log = []
        self.faults = []
        self.rate = None
        self.tokens = 0
        self.refilled = 0
        self.keys = ["AKIDFAKE"]
        self.seconds = 0.2
        self.visible = 0
        self.random = random.Random(1)

    def control(self, body):
        for id, members in body.get("desktops", {}).items():
            new = {
                "state": "AVAILABLE", "mode": "AUTO_STOP", "compute": "STANDARD", "user": f"user-{id}",
                "until": 0, "next": None, "before": "AVAILABLE", "changed": 0,
            }
            self.desktops[id] = {**self.desktops.get(id, new), **members}
        for id in body.get("gone", []):
            self.desktops.pop(id, None)
        for name in ["seconds", "visible", "keys", "faults"]:
            setattr(self, name, body.get(name, getattr(self, name)))
        if "rate" in body:
            self.rate = body["rate"]
            self.tokens, self.refilled = (self.rate or {}).get("burst", 0), time.monotonic()
        if "seed" in body:
            self.random = random.Random(body["seed"])

    def fault(self, operation, kinds):
        """The first fault of these kinds that applies to a call of this operation."""
        for fault in self.faults:
            if fault["kind"] not in kinds or fault["operation"] not in ["*", operation]:
                continue
            if "rate" in fault:
                if self.random.random() < fault["rate"]:
                    return fault
            elif fault.get("count", 0) > 0:
                fault["count"] -= 1
                return fault
        return None

    def limited(self):
        if not self.rate:
            return False
        now = time.monotonic()
        more = (now - self.refilled) * self.rate["perSecond"]
        self.tokens, self.refilled = min(self.rate["burst"], self.tokens + more), now
        if self.tokens < 1:
            return True
        self.tokens -= 1
        return False

    def settle(self):
        now = time.monotonic()
        for id, desktop in list(self.desktops.items()):
            if desktop["next"] is not None and now >= desktop["until"]:
                if desktop["next"] == "":
                    self.desktops.pop(id, None)
                    continue
                self.change(desktop, desktop["next"], now)
                desktop["next"] = None

    def change(self, desktop, state, now):
        desktop["before"], desktop["state"], desktop["changed"] = desktop["state"], state, now

    def seen(self, desktop):
        """What a description shows: for a while still the state before."""
        is_stale = time.monotonic() - desktop["changed"] < self.visible
        return desktop["before"] if is_stale else desktop["state"]

    def describe(self, body):
        ids = body.get("WorkspaceIds")
        token = body.get("NextToken")
        found = sorted(id for id in self.desktops if ids is None or id in ids)
        found = [id for id in found if token is None or id > token]
        limit = body.get("Limit", 25)
        answer = {"Workspaces": [self.view(id) for id in found[:limit]]}
        if len(found) > limit:
            answer["NextToken"] = found[limit - 1]
        return answer

    def view(self, id):
        desktop = self.desktops[id]
        return {
            "WorkspaceId": id, "DirectoryId": "d-0123456789", "UserName": desktop["user"], "State": self.seen(desktop),
            "ComputerName": f"C-{id[3:]}", "BundleId": "wsb-012345678",
            "WorkspaceProperties": {
                "RunningMode": desktop["mode"], "ComputeTypeName": desktop["compute"], "Protocols": ["WSP"],
            },
        }

    def apply(self, operation, id, properties):
        desktop = self.desktops.get(id)
        if desktop is None:
            raise Refusal("ResourceNotFoundException", f"The WorkSpace {id} does not exist.")
        states, during, after = TRANSITIONS[operation]
        if desktop["state"] == "TERMINATING" or (states and desktop["state"] not in states):
            raise Refusal("InvalidResourceStateException", f"The WorkSpace is {desktop['state']}.")
        if operation in ["StartWorkspaces", "StopWorkspaces"] and desktop["mode"] == "ALWAYS_ON":
            raise Refusal("OperationNotSupportedException", "The WorkSpace is always on.")
        if "RunningMode" in properties:
            desktop["mode"] = properties["RunningMode"]
            return
        desktop["compute"] = properties.get("ComputeTypeName", desktop["compute"])
        now = time.monotonic()
        desktop["next"] = desktop["state"] if after is None else after
        self.change(desktop, during, now)
        desktop["until"] = now + self.seconds

    def call(self, operation, body, entry):
        """The effect of a call, and its answer."""
        if operation == "DescribeWorkspaces":
            return self.describe(body)
        if "WorkspaceId" in body:
            entry["ids"] = [body["WorkspaceId"]]
            self.apply(operation, body["WorkspaceId"], body.get("WorkspaceProperties", {}))
            entry["done"] = entry["ids"]
            return {}
        requests = next(iter(body.values()))
        entry["ids"] = [request["WorkspaceId"] for request in requests]
        is_partial = self.fault(operation, ["partial"]) is not None
        failed = []
        for index, id in enumerate(entry["ids"]):
            try:
                if is_partial and index % 2 == 1:
                    raise Refusal("ThrottlingException", "Rate exceeded for this WorkSpace.")
                self.apply(operation, id, {})
                entry["done"].append(id)
            except Refusal as refusal:
                failed.append({"WorkspaceId": id, "ErrorCode": refusal.code, "ErrorMessage": str(refusal)})
        return {"FailedRequests": failed}


def check_shape(shape, value, place):
    """What botocore leaves to the service: lengths, patterns and enumerations."""
    bounds = shape.metadata
    if shape.type_name == "structure":
        for name, inner in value.items():
            check_shape(shape.members[name], inner, f"{place}.{name}")
        return
    size = value if shape.type_name == "integer" else len(value)
    if not bounds.get("min", 0) <= size <= bounds.get("max", 1 << 31):
        raise Refusal("ValidationException", f"{place}: {size} is out of bounds")
    if shape.type_name == "list":
        for inner in value:
            check_shape(shape.member, inner, place)
    if shape.type_name == "string":
        if "pattern" in bounds and not re.search(bounds["pattern"], value):
            raise Refusal("ValidationException", f"{place}: does not match {bounds['pattern']}")
        if "enum" in bounds and value not in bounds["enum"]:
            raise Refusal("ValidationException", f"{place}: is not one of {bounds['enum']}")


def check_request(headers, body):
    """Returns operation and parameters of a request that the description of the service allows."""
    if headers.get("Content-Type") != "application/x-amz-json-1.1":
        raise Refusal("SerializationException", "wrong content type")
    prefix, _, operation = headers.get("X-Amz-Target", "").partition(".")
    if prefix != MODEL.metadata["targetPrefix"] or operation not in MODEL.operation_names:
        raise Refusal("UnknownOperationException", "wrong X-Amz-Target")
    parameters = json.loads(body)
    shape = MODEL.operation_model(operation).input_shape
    unknown = set(parameters) - set(shape.members)
    report = ParamValidator().validate(parameters, shape)
    if unknown or report.has_errors():
        raise Refusal("ValidationException", f"{sorted(unknown)} {report.generate_report()}")
    check_shape(shape, parameters, operation)
    return operation, parameters


def check_signature(method, path, headers, body, keys):
    given = headers.get("Authorization", "")
    match = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/\d{8}/([a-z0-9-]+)/workspaces/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})",
        given,
    )
    if not match:
        raise Refusal("IncompleteSignatureException", "no signature of version 4")
    key, region, names, signature = match.groups()
    names = names.split(";")
    if key not in keys:
        raise Refusal("ExpiredTokenException", "The security token included in the request is expired")
    if not {"host", "x-amz-date", "x-amz-target"} <= set(names):
        raise Refusal("IncompleteSignatureException", "headers are not signed")
    signed = {name: headers[name] for name in names if name in headers}
    request = AWSRequest(method=method, url=f"http://{headers['Host']}{path}", data=body, headers=signed)
    request.context["timestamp"] = headers["X-Amz-Date"]
    auth = SigV4Auth(Credentials(key, SECRET), "workspaces", region)
    text = auth.string_to_sign(request, auth.canonical_request(request))
    if auth.signature(text, request) != signature:
        raise Refusal("InvalidSignatureException", "The request signature does not match: " + text)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers=()):
        text = json.dumps(body).encode()
        self.send_response(status)
        for name, value in [("Content-Type", "application/x-amz-json-1.1"), *headers]:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        self.wfile.flush()

    def do_PUT(self):
        """The metadata service of an instance: a session."""
        is_right = self.path == "/latest/api/token" and self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
        self.plain(200 if is_right else 400, "imds-session")

    def metadata(self):
        roles = "/latest/meta-data/iam/security-credentials/"
        if self.path == "/container":
            is_allowed = self.headers.get("Authorization") == "container-token"
        else:
            is_allowed = self.headers.get("X-aws-ec2-metadata-token") == "imds-session"
        if not is_allowed:
            return self.plain(401, "")
        if self.path == roles:
            return self.plain(200, "desk-role")
        if self.path in [roles + "desk-role", "/container"]:
            return self.plain(200, json.dumps({
                "Code": "Success", "AccessKeyId": FAKE.keys[0], "SecretAccessKey": SECRET, "Token": "session-token",
                "Expiration": "2099-01-01T00:00:00Z",
            }))
        return self.plain(404, "")

    def plain(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
        self.wfile.flush()

    def do_GET(self):
        if self.path != "/control":
            return self.metadata()
        with FAKE.lock:
            FAKE.settle()
            body = json.loads(json.dumps({"desktops": FAKE.desktops, "log": FAKE.log}))
        return self.answer(200, body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/control":
            with FAKE.lock:
                FAKE.control(json.loads(body))
            return self.answer(200, {})
        with FAKE.lock:
            entry = {"operation": self.headers.get("X-Amz-Target", "").rpartition(".")[2], "time": time.monotonic(),
                     "ids": [], "done": [], "outcome": "ok"}
            FAKE.log.append(entry)
            request_id = f"request-{len(FAKE.log)}"
            entry["request"] = request_id
            try:
                check_signature(self.command, self.path, self.headers, body, FAKE.keys)
                operation, parameters = check_request(self.headers, body)
                status, reply = self.perform(operation, parameters, entry)
            except Refusal as refusal:
                entry["outcome"] = refusal.code
                status, reply = refusal.status, {"__type": refusal.code, "message": str(refusal)}
        if entry["outcome"] == "late":
            time.sleep(FAKE.seconds)
        if status is None:
            self.close_connection = True
            return None
        return self.answer(status, reply, [("x-amzn-RequestId", request_id)])

    def perform(self, operation, parameters, entry):
        if FAKE.limited() or FAKE.fault(operation, ["throttle"]):
            raise Refusal("ThrottlingException", "Rate exceeded")
        if FAKE.fault(operation, ["unavailable"]):
            raise Refusal("ServiceUnavailableException", "unavailable", 503)
        if FAKE.fault(operation, ["denied"]):
            raise Refusal("AccessDeniedException", "not authorized to perform this")
        if FAKE.fault(operation, ["dropped"]):
            entry["outcome"] = "dropped"
            return None, None
        FAKE.settle()
        if FAKE.fault(operation, ["refused"]):
            ids = [request["WorkspaceId"] for request in next(iter(parameters.values()))]
            code = "OperationNotSupportedException"
            return 200, {"FailedRequests": [{"WorkspaceId": id, "ErrorCode": code, "ErrorMessage": "no"} for id in ids]}
        reply = FAKE.call(operation, parameters, entry)
        if FAKE.fault(operation, ["lost"]):
            entry["outcome"] = "lost"
            return None, None
        if FAKE.fault(operation, ["failed"]):
            entry["outcome"] = "failed"
            return 500, {"__type": "InternalFailure"}
        if FAKE.fault(operation, ["later"]):
            entry["outcome"] = "late"
        return 200, reply


FAKE = Fake()
SERVER = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
SERVER.daemon_threads = True
threading.Thread(target=SERVER.serve_forever, daemon=True).start()
print(json.dumps({"port": SERVER.server_address[1], "keys": {"all": {"id": "AKIDFAKE", "secret": SECRET}}}), flush=True)
sys.stdin.read()
