"""Judges a history, and knows nothing else. Each rule is a line of `RULES`: what must hold, and who finds where it didn't."""
import collections
import os
import pathlib
import re

ENDED = ("delivered", "failed", "cancelled")
# What SCALE allows a stream after its access was taken back; what two network hops and a reader that rests take beside that.
STREAM_END, READING = 1.0, 0.3
# For so long a node sends a batch again.
TRYING = 5
# Garbage is left alone for a minute, and looked for at each collection (`cluster.COLLECTION`).
GARBAGE_AGE = 60 + 3 * 20
ACCEPTED = (200, 202)
# What the jobs of a kind come to: the state, the code of a failure, and the renditions.
WHOLE = ("delivered", None, {"main", "thumbnail"})
OUTCOMES = {
    **dict.fromkeys(("post", "put", "equal", "slow", "again", "replace"), WHOLE),
    "large": ("delivered", None, {"main", "thumbnail", "original"}), "broken": ("failed", "unrecognized_type", set()),
    "shut": ("failed", "fetch_failed", set())}
# As `clients` ask for it, and of what a job may fail then. A deadline may be met a moment early.
DEADLINE, EARLY, LATE = 120, 5, ("deadline_exceeded", "store_failed", "store_full")
# Of a handover, as `clients` ask for it. A call that is underway as the examiner looks may be overdue.
LATE_LIMIT, UNDERWAY = 60, 20
# Seconds by which the clocks of the service and a receiver may differ, as our own guide for receivers has it.
GUIDE = pathlib.Path(__file__).resolve().parents[3] / "Sources/Service/API/Description/Guides/receive_callbacks.py"
TOLERANCE = int(re.search(r"^TOLERANCE = (\d+)", GUIDE.read_text(), re.M)[1])
# What was asked is carried out for so long after its client left, where that can't be seen.
STALE = 10
# For so long after its clock was set back, something of a server's wrong time may be left.
AFTERMATH = 60


def accepted(history):
    """Calls that acknowledged a job."""
    return [call for call in history.of("submit") if call["status"] in ACCEPTED and call["job"]]


def changes(history):
    """By job, when somebody began to ask for something else than its end: it may begin anew, or go."""
    found, bodies = collections.defaultdict(list), {}
    for call in history.of("delete", "delete_job", "retry"):
        found[call["job"]].append(call["start"])
    for call in history.of("submit"):
        job = call["asked"] or call["job"]
        if job and bodies.setdefault(job, call["bytes"]) != call["bytes"]:
            found[job].append(call["start"])
    return found


def deleted(history):
    return {call["job"] for call in history.of("delete", "delete_job")}


def puts(history):
    """By tenant and notification, how it was scheduled."""
    found = collections.defaultdict(list)
    for call in history.of("notify"):
        found[call["tenant"], call["name"]].append(call)
    return found


def superseded(history):
    """The jobs and notifications that were replaced or deleted, or called off."""
    return {
        *changes(history), *deleted(history), *(call["name"] for call in history.of("unnotify")),
        *(name for (_, name), found in puts(history).items() if len(found) > 1)}


def steps(history):
    """When the service's time was wrong, and by how much."""
    return [
        (fault["start"], fault["end"], fault["offset"]) for fault in history.faults
        if fault["what"].startswith("the database's clock steps")]


# Each rule gives the number of cases, and what is wrong.

def jobs_end(history):
    gone, jobs = deleted(history), {(row["tenant"], row["id"]): row for row in history.tables["jobs"]}
    cases, wrong = {(call["tenant"], call["job"]): call for call in accepted(history)}, []
    for (tenant, job), call in cases.items():
        row = jobs.get((tenant, job))
        if row is None and job not in gone:
            wrong.append(f"{call['name']}: accepted as {job} at {call['end']:.2f}, and not there")
        elif row and row["state"] not in ENDED:
            wrong.append(f"{call['name']}: {job} is still {row['state']}")
    for row in history.tables["queue"]:
        wrong.append(f"the job {row['job']} is still in the queue: {row}")
    return len(cases), wrong


def media_are_delivered(history):
    """Each job comes to what its kind comes to. A deadline is excused by the time that passed, also by that of the database."""
    jobs, gone = {(row["tenant"], row["id"]): row for row in history.tables["jobs"]}, deleted(history)
    retried = {call["job"] for call in history.of("retry")}
    roles, attachments = collections.defaultdict(set), collections.defaultdict(list)
    for row in history.tables["renditions"]:
        roles[row["tenant"], row["attachment"]].add(row["role"])
    for row in history.tables["attachments"]:
        attachments[row["job"], row["generation"]].append(row)
    ends = {(row["job"], row["generation"]): row["at"] - history.clock for row in history.tables["witness"] if row["what"] == "ended"}
    cases, wrong = {(call["tenant"], call["job"]): call for call in accepted(history)}, []
    for (tenant, job), call in cases.items():
        row = jobs.get((tenant, job))
        if row is None or job in gone or row["state"] not in ENDED:
            continue
        end = ends.get((row["key"], row["generation"]), call["end"])
        is_late = end - call["end"] > DEADLINE - EARLY or any(
            call["start"] < until and start < end for start, until, _ in steps(history))
        # What was retried is open by then, if it was delivered.
        right = [OUTCOMES[call["what"]]] + [WHOLE] * (call["what"] == "shut" and job in retried)
        for one in attachments[row["key"], row["generation"]]:
            found = (one["state"], one["code"], roles[tenant, one["id"]])
            if found not in right and not (is_late and one["code"] in LATE):
                after = f"{end - call['end']:.1f} s after it was accepted"
                wrong.append(f"{job} ({call['what']}) came to {one['state']} {one['code'] or ''} {sorted(found[2])} {after}")
    return len(cases), wrong


def ends_stay(history):
    """Who was told that a job ended is never told anything else, unless somebody asked for that."""
    cases, wrong, changed, told = 0, [], changes(history), {}
    for call in sorted(history.of("look"), key=lambda call: call["end"]):
        job = call["job"]
        if call["status"] == 404 and not any(start < call["end"] for start in changed[job]):
            wrong.append(f"{job} was accepted, and not found at {call['start']:.2f}")
        if call["status"] != 200 or "state" not in call or any(start < call["end"] for start in changed[job]):
            continue
        cases += 1
        outcome = (call["state"], call["finished"], str(call["attachments"]))
        for end, known in told.get(job, []):
            if end <= call["start"] and outcome != known:
                wrong.append(f"{job} had ended as {known}, and at {call['start']:.2f} it was {outcome}")
        if call["state"] in ENDED and (not told.get(job) or told[job][-1][1] != outcome):
            told.setdefault(job, []).append((call["end"], outcome))
    return cases, wrong


def delivered_once(history):
    """By what the database saw: each generation ends once, under the claim that held it."""
    cases, wrong, ended, held = 0, [], {}, {}
    for row in history.tables["witness"]:
        generation = (row["job"], row["generation"])
        if row["what"] == "gone":
            held[row["job"]] = (row["txid"], row["earlier"])
        if row["what"] != "ended":
            continue
        cases += 1
        if row["earlier_state"] != "pending":
            wrong.append(f"{generation} had ended as {row['earlier_state']}, and ended as {row['state']} again")
        if generation in ended:
            wrong.append(f"{generation} ended twice: {ended[generation]}, {row['seq']}")
        ended[generation] = row["seq"]
        transaction, claim = held.get(row["job"], (None, None))
        if row["claim"] and (transaction, claim) != (row["txid"], row["claim"]):
            wrong.append(f"{generation} was delivered under {row['claim']}, and {claim} held it")
    return cases, wrong


def deliveries_are_known(history):
    """Who delivered, and got no answer, finds out that it did; where the machine lets it try in time."""
    lost = [(fault["start"], fault["end"]) for fault in history.faults if fault["what"] == "answers to commits are lost"]
    jobs = {row["key"]: row for row in history.tables["jobs"]}
    known = {(row["client"], row["tenant"], row["job"], row["generation"]) for row in history.tables["ends"]}
    cases, wrong = 0, []
    for row in history.tables["witness"]:
        at, job = row["at"] - history.clock, jobs.get(row["job"])
        if row["what"] != "ended" or not row["claim"] or not job:
            continue
        if any(start <= at <= end for start, end in lost) and history.delayed(at, at + TRYING) < TRYING / 5:
            cases += 1
            if (row["client"], job["tenant"], job["id"], row["generation"]) not in known:
                wrong.append(f"{job['id']} was delivered by {row['client']} at {at:.2f}, which doesn't know it")
    return cases, wrong


def claimed_once(history):
    """A claim takes what waits; what is claimed is freed by its own node, or when its time is up."""
    cases, wrong, owners = 0, [], {}
    for row in history.tables["witness"]:
        if row["what"] == "claimed":
            cases += 1
            if row["earlier"]:
                wrong.append(f"the job {row['job']} was taken by {row['client']} from {owners.get(row['earlier'])}, who had it")
            owners[row["claim"]] = row["client"]
        elif row["what"] == "freed" and not row["was_over"] and not row["was_dead"] and owners.get(row["earlier"], row["client"]) != row["client"]:
            wrong.append(f"the job {row['job']} was freed by {row['client']}, and {owners[row['earlier']]} lives and had it")
    return cases, wrong


def reads_are_whole(history):
    """What is answered with 200 has the hash of the record."""
    cases, wrong = 0, []
    for call in history.of("read", "open"):
        if call["status"] == 200 and not call.get("error"):
            cases += 1
            if call["sha256"] != call["expected"]:
                wrong.append(f"{call['attachment']} {call['role']} at {call['start']:.2f}: {call['bytes']} bytes with another hash")
    return cases, wrong


def renditions_open(history):
    calls = history.of("open")
    return len(calls), [
        f"{call['attachment']} {call.get('role', '')}: {call['status']} {call.get('error', '')}" for call in calls if call["status"] != 200]


def revoked_stays_shut(history):
    """By lease, and by attachment where that was deleted."""
    ends = {}
    for call in history.of("revoke", "delete", "delete_job"):
        if call["status"] in (200, 204):
            name = call["lease"] if call["op"] == "revoke" else call["attachment"]
            ends[name] = min(call["end"], ends.get(name, call["end"]))
    cases, wrong = 0, []
    for call in history.of("read", "stream"):
        end = min(ends.get(call["lease"], float("inf")), ends.get(call["attachment"], float("inf")))
        if call["start"] >= end:
            cases += 1
            if call["status"] in (200, 206):
                wrong.append(
                    f"{call['lease']} was taken back at {end:.2f}, and {call['node']} answered {call['status']} to who asked at {call['start']:.2f}")
    return cases, wrong


def revoked_keys_open_nothing(history):
    ends = {}
    for call in history.of("revoke_key"):
        if call["status"] == 204:
            ends[call["of"]] = min(call["end"], ends.get(call["of"], call["end"]))
    calls = [call for call in history.of("use_key", "hold") if call["start"] >= ends.get(call["of"], float("inf"))]
    return len(calls), [
        f"{call['node']} answered {call['status']} at {call['start']:.2f} to a key that was revoked at {ends[call['of']]:.2f}"
        for call in calls if call["status"] and call["status"] < 400]


def asleep(history, node):
    return [(fault["start"], fault["end"]) for fault in history.faults if fault.get("node") == node and fault["what"].startswith("a node sleeps")]


def dead(history, node):
    return [(fault["start"], fault["end"]) for fault in history.faults if fault.get("node") == node and fault["what"].startswith("a node is killed")]


def bounds(history, node, limit):
    """From when something at a node counts as too long, and until when it may last: a node that sleeps ends it when it wakes, and what the
    machine kept others waiting for is added. None where the node was killed meanwhile, as it has sent what it had sent."""
    for start, end in asleep(history, node):
        if start - STREAM_END <= limit <= end:
            limit = end
    if any(start - STREAM_END <= limit + STREAM_END and limit <= end + STREAM_END for start, end in dead(history, node)):
        return None
    return limit, limit + STREAM_END + READING + history.delayed(limit, limit + STREAM_END + 1)


def cut_off(history):
    return [fault for fault in history.faults if fault["what"].startswith("a node can't talk to the database")]


def without_primary(history):
    """While the standby takes over, no node can ask."""
    return [fault for fault in history.faults if fault["what"].startswith("the primary is killed")]


def streams_end(history):
    """Within a second of the answer to the revocation, and of a node's losing its database."""
    ends = {call["lease"]: call["end"] for call in history.of("revoke") if call["status"] == 204}
    cuts = [fault for fault in cut_off(history) if fault["end"] - fault["start"] > 5]
    cases, wrong = 0, []
    for call in history.of("stream"):
        if call["status"] != 200 or call["last"] is None:
            continue
        limits = [("its access was taken back", ends[call["lease"]], 0)] if call["lease"] in ends else []
        # It was asked for half a second ago, and the question that is lost counts from when it was asked.
        limits += [
            ("its node lost the database", fault["start"], 0.5) for fault in cuts
            if fault["node"] == call["node"] and call["start"] < fault["start"]]
        for why, limit, more in limits:
            if call["start"] >= limit:
                continue
            cases += 1
            if found := bounds(history, call["node"], limit):
                limit, allowed = found
                if call["last"] > allowed + more and call["start"] < limit < call["last"]:
                    wrong.append(f"{call['client']} read from {call['node']} until {call['last'] - limit:.2f} s after {why} ({call['bytes']} bytes)")
    return cases, wrong


def waits_end(history):
    """Streams and long polls of a key, within a second of the answer to its revocation, on every node that can ask the database: one that
    can't has nothing to tell, and ends them when it can. A long poll is open where the stream is that was asked for beside it."""
    revoked = {call["of"]: call for call in history.of("revoke_key") if call["status"] == 204}
    streams = [call for call in history.of("hold") if call["what"] == "a stream" and call["status"] == 200]
    opened = {(call["of"], call["node"]): call["opened"] for call in streams}
    cases, wrong = 0, []
    for call in history.of("hold"):
        revocation = revoked.get(call["of"])
        if revocation is None or not opened.get((call["of"], call["node"]), call["end"]) < revocation["start"] < call["end"]:
            continue
        cases += 1
        end = max([revocation["end"], *(
            fault["end"] for fault in [*cut_off(history), *without_primary(history)]
            if fault.get("node", call["node"]) == call["node"] and fault["start"] - STREAM_END <= revocation["end"] <= fault["end"])])
        if found := bounds(history, call["node"], end):
            limit, allowed = found
            if call["end"] > allowed:
                wrong.append(f"{call['what']} at {call['node']} ended {call['end'] - limit:.2f} s after its key was revoked")
    return cases, wrong


def calls_are_signed(history):
    """By the secret of the tenant, and at the time of the receiver. While the database's clock is wrong, so is the service's time."""
    wrong = []
    for one in history.receipts:
        if not one["signed"]:
            wrong.append(f"the call {one['call']} at {one['at']:.2f} has no good signature")
        offsets = [0] + [offset for start, end, offset in steps(history) if start <= one["at"] <= end + AFTERMATH]
        if one["off"] is None or not any(abs(one["off"] - offset) <= TOLERANCE for offset in offsets):
            wrong.append(f"the call {one['call']} at {one['at']:.2f} has a timestamp that is {one['off']} s off")
    return len(history.receipts), wrong


def shortened(body):
    """With its tokens as they read once they have ended."""
    return re.sub(r"(satl_\w{3})\w+", r"\1", body)


def calls_keep_their_bodies(history):
    """Byte for byte; but the tokens of what was replaced or deleted meanwhile have ended."""
    bodies, wrong = collections.defaultdict(list), []
    gone = superseded(history)
    for one in history.receipts:
        bodies[one["call"]].append(one)
    for call, found in bodies.items():
        for first, other in zip(found, found[1:]):
            told, again = first["body"], other["body"]
            has_ended = again == shortened(again) and (first["about"] or {}).get("id") in gone
            if again != (shortened(told) if has_ended else told):
                at = len(os.path.commonprefix([told, again]))
                both = " and ".join(f"{one['body'][max(at - 60, 0):at + 60]!r} at {one['at']:.2f}" for one in (first, other))
                wrong.append(f"the call {call} tells {both}")
    return sum(len(found) > 1 for found in bodies.values()), wrong


def calls_tell_what_is(history):
    """A job as it ended, with what it delivered; a firing with the payload of its notification."""
    calls, wrong = {row["id"]: row for row in history.tables["calls"]}, []
    firings = {(row["tenant"], row["id"]): row for row in history.tables["firings"]}
    hashes = collections.defaultdict(dict)
    for row in history.tables["renditions"]:
        hashes[row["tenant"], row["attachment"]][row["role"]] = row["sha256"]
    gone = deleted(history)
    for one in history.receipts:
        told, call = one["about"], calls.get(one["call"])
        if not told or (call and call["tenant"] != one["tenant"]):
            wrong.append(f"the call {one['call']} tells {one['tenant']} what can't be read, or is another's")
        elif told["type"] == "job":
            if told["state"] not in ENDED or (call and call["job"] != told["id"]):
                wrong.append(f"the call {one['call']} tells of {told['id']}, which is {told['state']}")
            for made in told["attachments"]:
                known = hashes.get((one["tenant"], made["id"]), {})
                if made["state"] != "delivered" or told["id"] in gone:
                    continue
                if not made["opens"]:
                    wrong.append(f"the call {one['call']} at {one['at']:.2f} tells of {told['id']} without URLs")
                if known and known != made["renditions"]:
                    wrong.append(f"the call {one['call']} at {one['at']:.2f} tells of {told['id']} with other hashes")
        elif told["type"] == "notification.fired":
            firing = firings.get((one["tenant"], one["call"]))
            known = firing and (firing["notification"], firing["generation"], firing["number"])
            if known and known != (told["id"], told["generation"], told["number"]):
                wrong.append(f"the call {one['call']} tells of another firing")
            if told["alert"] != told["id"]:
                wrong.append(f"the call {one['call']} has the payload of {told['alert']} instead of {told['id']}'s")
    return len(history.receipts), wrong


def calls_arrive(history):
    """Each job with a callback and each firing with a handover is told to the receiver, which accepts it at last. A call is superseded
    with what it tells, and what has a limit ends by the service's time."""
    seen, taken = collections.Counter(one["call"] for one in history.receipts), {one["call"] for one in history.receipts if one["status"] == 204}
    firings, gone, wrong = {row["id"]: row["notification"] for row in history.tables["firings"]}, superseded(history), []
    notified = puts(history)
    for row in history.tables["calls"]:
        name, what = row["job"] or firings.get(row["id"]), f"the call {row['id']} of {row['job'] or firings.get(row['id'])}"
        is_excused = row["state"] == "cancelled" and name in gone or any(
            start - LATE_LIMIT <= put["end"] <= end and row["finished"] and start < row["finished"] - history.clock
            for put in notified[row["tenant"], name] for start, end, _ in steps(history))
        if row["state"] == "delivered" and row["id"] not in taken:
            wrong.append(f"{what} counts as delivered, and the receiver didn't accept it")
        elif row["state"] in ("failed", "cancelled") and not is_excused:
            wrong.append(f"{what} is {row['state']} after {seen[row['id']]} attempts that came: {row['reason']}")
        elif row["state"] == "pending" and row["left"] < -1000 * UNDERWAY:
            wrong.append(f"{what} waits still, after {row['attempt']} attempts")
    told = {(row["tenant"], row["job"]) for row in history.tables["calls"]}
    ended = {(row["tenant"], row["id"]) for row in history.tables["jobs"] if row["state"] in ENDED}
    due = {(call["tenant"], call["job"]) for call in accepted(history) if call.get("has_callback")}
    wrong += [f"no call tells of {job}" for tenant, job in (due & ended) - told if job not in gone]
    calls = {row["id"] for row in history.tables["calls"]}
    wrong += [
        f"no call tells of the firing {row['id']} of {row['notification']}" for row in history.tables["firings"]
        if row["id"] not in calls and row["notification"] not in gone
        and any(put.get("has_handover") for put in notified[row["tenant"], row["notification"]])]
    return len(history.tables["calls"]), wrong


def leavers_are_left_alone(history):
    """What a client gave up is not carried out after what it, or another, was acknowledged next. A connection that was closed, not reset,
    counts from when the request is stale. A node that is awake may be in the middle of it when the reset arrives."""
    def is_gone(call, then):
        """Whether the node knew that the client is gone before another asked for what came next."""
        left = call["end"]
        woke = max((end for start, end in asleep(history, call["node"]) if start <= left <= end), default=None)
        seen = left if woke else left + READING + history.delayed(left, left + 1)
        is_known = call["is_reset"] or (woke or left) - call["start"] > STALE + 2
        return call["status"] is None and seen <= then["start"] and is_known

    jobs = {(row["tenant"], row["id"]): row for row in history.tables["jobs"]}
    names, cases, wrong, last = collections.defaultdict(set), 0, [], {}
    for row in history.tables["attachments"]:
        names[row["job"], row["generation"]].add(row["identifier"])
    for call in accepted(history):
        if call["asked"]:
            last[call["tenant"], call["asked"]] = call
    for call in history.of("submit"):
        then = last.get((call["tenant"], call["asked"]))
        if "is_reset" in call and then and is_gone(call, then):
            cases += 1
            row = jobs.get((call["tenant"], then["job"]))
            found = names[row["key"], row["generation"]] if row else set()
            if call["identifier"] in found:
                wrong.append(f"{call['identifier']}, given up at {call['end']:.2f} at {call['node']}, took the place of {then['identifier']}")
    removed = {(call["tenant"], call["name"]): call for call in history.of("remove_unwanted") if call["status"] in (204, 404)}
    records = {(row["tenant"], row["id"]): row for row in history.tables["notifications"]}
    for call in history.of("put_unwanted"):
        then, row = removed.get((call["tenant"], call["name"])), records.get((call["tenant"], call["name"]))
        if then and is_gone(call, then):
            cases += 1
            if row and row["state"] != "cancelled":
                wrong.append(f"{call['name']}, given up at {call['end']:.2f} at {call['node']} and then removed, is {row['state']}")
    return cases, wrong


def one_key_one_job(history):
    jobs, wrong = collections.defaultdict(set), []
    for call in accepted(history):
        jobs[call["tenant"], call["key"] or call["asked"]].add(call["job"])
    wrong += [f"{key} came to {sorted(found)}" for key, found in jobs.items() if len(found) > 1]
    # And none that nobody was told of.
    recorded = collections.defaultdict(set)
    for row in history.tables["attachments"]:
        recorded[row["tenant"], row["identifier"]].add(row["job"])
    wrong += [f"{name} is recorded as {len(found)} jobs" for name, found in recorded.items() if len(found) > 1]
    return len(jobs), wrong


def lists_are_whole(history):
    cases, wrong, first = 0, [], {}
    gone = collections.defaultdict(lambda: float("inf"))
    for call in history.of("delete", "delete_job"):
        gone[call["job"]] = min(call["start"], gone[call["job"]])
    for call in accepted(history):
        key = call["tenant"], call["job"]
        first[key] = min(call["end"], first.get(key, float("inf")))
    for call in history.of("page"):
        if "list" not in call:
            continue
        cases += 1
        if len(set(call["list"])) < len(call["list"]):
            wrong.append(f"a list of {call['tenant']} at {call['began']:.2f} has jobs twice")
        missing = [
            job for (tenant, job), end in first.items()
            if tenant == call["tenant"] and end < call["began"] and gone[job] > call["end"] and job not in set(call["list"])]
        if missing:
            wrong.append(f"a list of {call['tenant']} at {call['began']:.2f} lacks {missing[:3]}")
    return cases, wrong


def fires_once(history):
    """Each notification fires once in the generation that stayed, if nobody took it back; nothing waits for ever."""
    firings, wrong = collections.defaultdict(list), []
    called = {row["id"] for row in history.tables["calls"]}
    for row in history.tables["firings"]:
        firings[row["tenant"], row["notification"]].append(row)
        if row["state"] == "pending" and row["id"] not in called:
            wrong.append(f"the firing {row['number']} of {row['notification']} is still pending")
    records = {(row["tenant"], row["id"]): row for row in history.tables["notifications"]}
    removed = {call["name"] for call in history.of("unnotify")}
    told = collections.defaultdict(int)
    for call in history.of("notify"):
        if call["status"] in (200, 201):
            told[call["tenant"], call["name"]] = max(told[call["tenant"], call["name"]], call["generation"])
    for (tenant, name), generation in told.items():
        record = records.get((tenant, name))
        if record is None:
            wrong.append(f"{name} was taken, and is not there")
            continue
        made = [row for row in firings[tenant, name] if row["generation"] == record["generation"]]
        if record["generation"] < generation:
            wrong.append(f"{name} was told its generation {generation}, and has {record['generation']}")
        if len(made) > 1:
            wrong.append(f"{name} fired {len(made)} times in one generation")
        # By the clock of the database, which was set now and then, its time may be still to come.
        is_to_come = record["state"] == "pending" and record["left"] is not None and record["left"] > 0
        if not made and name not in removed and not is_to_come:
            wrong.append(f"{name} is {record['state']}, and never fired")
    return len(told), wrong


def fired_by_hand_once(history):
    """Who asked for a firing by a key, however often, got one and the same."""
    rows, answers, wrong = collections.defaultdict(list), collections.defaultdict(set), []
    for row in history.tables["firings"]:
        if row["key"]:
            rows[row["tenant"], row["notification"], row["key"]].append(row["id"])
    for call in history.of("fire"):
        if call["firing"]:
            answers[call["tenant"], call["name"], call["key"]].add(call["firing"])
    wrong += [f"{key} was answered {sorted(told)}, and is there as {rows[key]}" for key, told in answers.items() if rows[key] != [*told]]
    wrong += [f"{key} fired {len(found)} times" for key, found in rows.items() if key not in answers and len(found) > 1]
    return len(answers), wrong


def pullers_see_each_once(history):
    seen, wrong = collections.defaultdict(list), []
    for call in history.of("pull"):
        seen[call["client"], call["tenant"]] += call["firings"]
    for (client, tenant), found in seen.items():
        listed = sorted((row for row in history.tables["firings"] if row["tenant"] == tenant and row["place"]), key=lambda row: row["place"])
        if len(set(found)) < len(found):
            wrong.append(f"{client} saw a firing of {tenant} twice")
        if found != [row["id"] for row in listed]:
            wrong.append(f"{client} saw {len(found)} firings of {tenant}, of which there are {len(listed)}, or in another order")
    return sum(len(found) for found in seen.values()), wrong


def responses_are_kept_once(history):
    """Who was answered finds his response in the list once, and heard the same however often he said it."""
    rows, said, wrong = collections.defaultdict(list), collections.defaultdict(list), []
    for row in history.tables["responses"]:
        rows[row["id"]].append(row)
    for call in history.of("respond"):
        said[call["response"]].append(call)
    for response, calls in said.items():
        kept, answers = rows[response], [call["answer"] for call in calls if call["status"] == 200]
        if answers and len(kept) != 1:
            wrong.append(f"the response {response} was answered, and is there {len(kept)} times")
        if any(answer != answers[0] for answer in answers):
            wrong.append(f"the response {response} was answered in several ways")
        if kept and all(call["status"] is not None and 400 <= call["status"] < 500 for call in calls):
            wrong.append(f"the response {response} was refused, and is there")
        about = [(call["of"], call["notification"], call["firing"]) for call in calls]
        if any((row["tenant"], row["notification"], row["firing"]) != about[0] for row in kept):
            wrong.append(f"the response {response} is about something else")
    wrong += [f"nobody said the response {response}" for response, kept in rows.items() if kept and response not in said]
    return len(said), wrong


def offsets_never_shrink(history):
    """Whoever was told an offset is never told a smaller one by an answer that was asked for afterwards."""
    cases, wrong, told = 0, [], collections.defaultdict(list)
    for call in sorted(history.of("send", "ask_offset", "look_upload"), key=lambda call: call["end"]):
        if call.get("told") is None:
            continue
        cases += 1
        before = max((offset for end, offset in told[call["upload"]] if end <= call["start"]), default=0)
        if call["told"] < before:
            wrong.append(f"{call['upload']}: {before} bytes were told, and {call['told']} by {call['node']} at {call['start']:.2f}")
        told[call["upload"]].append((call["end"], call["told"]))
    rows = {row["id"]: row for row in history.tables["uploads"]}
    for upload, offsets in told.items():
        last = max(offset for _, offset in offsets)
        if upload not in rows or rows[upload]["received"] < last:
            wrong.append(f"{upload}: {last} bytes were told, and its record has {rows.get(upload, {}).get('received')}")
    return cases, wrong


def whole_uploads_are_whole(history):
    """By the record, and by what is read back from the bucket."""
    expected = {call["upload"]: call["expected"] for call in history.of("send", "ask_offset", "look_upload") if call.get("upload")}
    read = {call["upload"]: call["sha256"] for call in history.of("open_whole")}
    whole, wrong = [row for row in history.tables["uploads"] if row["state"] in ("complete", "consumed")], []
    for row in whole:
        if row["id"] in expected and row["sha256"] != expected[row["id"]]:
            wrong.append(f"the upload {row['id']} has another hash")
        if row["state"] == "complete" and read.get(row["id"]) != row["sha256"]:
            wrong.append(f"{row['source']} reads back with another hash")
    return len(whole), wrong


def usage_is_true(history):
    counted = collections.defaultdict(lambda: collections.Counter())
    for row in history.tables["renditions"]:
        counted[row["tenant"]]["stored_bytes"] += row["bytes"]
    for row in history.tables["leases"]:
        counted[row["tenant"]]["open_leases"] += row["open"]
    for row in history.tables["jobs"]:
        counted[row["tenant"]]["unfinished_jobs"] += row["state"] not in ENDED
    told = {row["tenant"]: row for row in history.tables["usage"]}
    wrong = [
        f"{what} of {tenant}: {told.get(tenant, {}).get(what, 0)} are told, and there are {counted[tenant][what]}"
        for tenant in {*told, *counted} for what in ("stored_bytes", "open_leases", "unfinished_jobs")
        if told.get(tenant, {}).get(what, 0) != counted[tenant][what]]
    return 3 * len({*told, *counted}), wrong


def blobs_are_counted(history):
    refs = collections.Counter(row["blob"] for row in history.tables["renditions"])
    rows = history.tables["blobs"]
    wrong = [f"{row['name']} has {row['refs']} references, and {refs[row['name']]} are there" for row in rows if row["refs"] != refs[row["name"]]]
    return len(rows), wrong + [f"{row['name']} counts as damaged" for row in rows if row["damaged"]]


def objects_are_there(history):
    objects = {row["name"]: row["bytes"] for row in history.tables["objects"]}
    folders = {name.rpartition("/")[0] for name in objects}
    wrong = [
        f"{row['name']} has {objects.get(row['name'])} bytes instead of {row['bytes']}" for row in history.tables["blobs"]
        if objects.get(row["name"]) != row["bytes"]]
    names = [row["source"] for row in history.tables["attachments"] if row["source"]] + [row["name"] for row in history.tables["retained_sources"]]
    return len(history.tables["blobs"]) + len(names), wrong + [
        f"{name} is needed, and isn't there" for name in names if name not in objects and name not in folders]


def garbage_goes(history):
    rows = history.tables["garbage"]
    return len(rows), [
        f"{row['name']} has been garbage for {row['age']:.0f} s" for row in rows if row["age"] > GARBAGE_AGE and row["kind"] != "claim"]


RULES = {
    "each acknowledged job came to its end": jobs_end,
    "each job came to what its kind comes to": media_are_delivered,
    "no end was taken back": ends_stay,
    "each generation ended once, under the claim that held it": delivered_once,
    "who delivered knew it, also without an answer": deliveries_are_known,
    "no claim was taken from who had it": claimed_once,
    "each rendition of the records opened": renditions_open,
    "what was read had its hash": reads_are_whole,
    "no read began after its access was taken back": revoked_stays_shut,
    "streams ended within a second": streams_end,
    "revoked keys opened nothing": revoked_keys_open_nothing,
    "streams and long polls ended within a second of their key": waits_end,
    "each key came to one job": one_key_one_job,
    "lists were whole": lists_are_whole,
    "each notification fired once": fires_once,
    "each firing by hand was made once": fired_by_hand_once,
    "who pulls firings saw each once": pullers_see_each_once,
    "each response was kept once, and had one answer": responses_are_kept_once,
    "calls were signed, at the receiver's time": calls_are_signed,
    "each call kept its body": calls_keep_their_bodies,
    "calls told what is": calls_tell_what_is,
    "each call was accepted by its receiver": calls_arrive,
    "nothing was carried out whose client had left": leavers_are_left_alone,
    "no offset of an upload that was told was taken back": offsets_never_shrink,
    "whole uploads have their bytes": whole_uploads_are_whole,
    "usage equals the records": usage_is_true,
    "references equal the renditions": blobs_are_counted,
    "what records name is in the bucket": objects_are_there,
    "garbage was collected": garbage_goes,
}


def strays(history):
    """Objects that nothing names: a sweep removes them when they are an hour old, which is older than any run."""
    named = {row["name"] for table in ("blobs", "retained_sources", "garbage") for row in history.tables[table]}
    named |= {row["source"] for table in ("attachments", "uploads") for row in history.tables[table]}
    claims = {row["name"] for row in history.tables["garbage"] if row["kind"] == "claim"}
    return [
        row["name"] for row in history.tables["objects"]
        if row["name"] not in named and not any(claim in row["name"] for claim in claims)
        # An upload's objects have its source's name before theirs.
        and row["name"].rpartition("/")[0] not in named]


def rested(history):
    """Claims that ran out although their node lived: it didn't know that it had them, or was too slow."""
    return [row for row in history.tables["witness"] if row["what"] == "freed" and row["was_over"] and not row["was_dead"]]


class Verdict:
    def __init__(self, history):
        self.history = history
        self.rules = {name: rule(history) for name, rule in RULES.items()}

    @property
    def is_sound(self):
        return not any(wrong for _, wrong in self.rules.values())

    def lines(self, most=6):
        history = self.history
        calls = [call for call in history.calls if call["op"] != "open"]
        answers = collections.Counter("no answer" if call["status"] is None else f"{call['status'] // 100}xx" for call in calls)
        span = (max(call["end"] for call in calls) - min(call["start"] for call in calls)) if calls else 0
        yield f"{len(calls)} calls in {span:.0f} s: " + ", ".join(f"{count} {name}" for name, count in sorted(answers.items())) + "."
        faults = collections.Counter(fault["what"].removesuffix(" again") for fault in history.faults)
        yield f"{len(history.faults)} faults: " + ", ".join(f"{name} {count}" for name, count in sorted(faults.items())) + "."
        states = collections.Counter(row["state"] for row in history.tables["jobs"])
        yield f"{sum(states.values())} jobs: " + ", ".join(f"{count} {name}" for name, count in sorted(states.items())) + "."
        yield f"{len(history.tables['objects'])} objects, of which nothing names {len(strays(history))}."
        yield f"{len(rested(history))} claims ran out under nodes that lived."
        for name, (cases, wrong) in self.rules.items():
            yield f"  {'WRONG' if wrong else 'holds'}  {name}: {cases}" + (f", {len(wrong)} wrong" if wrong else "")
            for one in wrong[:most]:
                yield f"           {one}"
