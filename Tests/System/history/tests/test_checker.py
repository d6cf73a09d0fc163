"""The checker finds each promise that is broken, and nothing where none is."""
import unittest

from history.checker import RULES, Verdict, strays
from history.tests.simulator import Simulator


class CheckerTests(unittest.TestCase):
    def setUp(self):
        self.world = Simulator()
        self.job, self.attachment, self.hash = self.world.submit(callback=True)
        self.lease = self.world.lease(self.attachment)
        self.world.read(self.lease, self.attachment, self.hash)
        self.world.notify("once", handover=True)
        self.world.notify("changed", bodies=2)
        self.world.fire("manual", "by hand", times=2)
        self.said = self.world.respond("once", times=2)
        self.upload = self.world.upload()

    def judged(self, changed=lambda history: None):
        history = self.world.history()
        changed(history)
        return Verdict(history)

    def assert_breaks(self, rule, changed=lambda history: None):
        wrong = {name for name, (_, found) in self.judged(changed).rules.items() if found}
        self.assertIn(rule, RULES)
        self.assertEqual(wrong, {rule})

    def test_a_service_that_keeps_its_promises_is_sound_whatever_the_seed(self):
        for seed in range(20):
            world = Simulator(seed)
            for number in range(10):
                job, attachment, hash_ = world.submit(repeated=1 + number % 2, callback=number % 2 == 0)
                lease = world.lease(attachment)
                world.read(lease, attachment, hash_)
                world.notify(f"notification-{number}", bodies=1 + number % 2, handover=number % 3 == 0)
                world.respond(f"notification-{number}", times=1 + number % 3)
                world.fire(f"manual-{number}", "by hand", times=1 + number % 2)
                world.upload((5, 5, 20) if number % 2 else (30,), whole=number % 2 == 0)
                if number % 3 == 0:
                    start = world.time
                    revoked = world.revoke(lease)
                    world.stream(lease, attachment, start, revoked["end"] + 0.9)
                    world.read(lease, attachment, hash_, status=404)
                    start, revoked = world.time, world.revoke_key(f"key-{number}")
                    world.hold(f"key-{number}", start, revoked["end"] + 0.9)
                    world.call("use_key", 401, of=f"key-{number}")
                    self.give_up(f"asked-{number}", world=world)
                    self.give_up_notification(f"unwanted-{number}", world=world)
            verdict = Verdict(world.history())
            self.assertEqual([found for _, found in verdict.rules.values() if found], [])
            self.assertGreater(min(cases for name, (cases, _) in verdict.rules.items() if name in (
                "what was read had its hash", "each notification fired once", "each firing by hand was made once",
                "who pulls firings saw each once", "each response was kept once, and had one answer", "no offset of an upload that was told was taken back",
                "whole uploads have their bytes", "no read began after its access was taken back", "streams ended within a second",
                "each job came to what its kind comes to", "revoked keys opened nothing",
                "streams and long polls ended within a second of their key", "calls were signed, at the receiver's time",
                "each call kept its body", "calls told what is", "each call was accepted by its receiver",
                "nothing was carried out whose client had left")), 0)

    def test_a_job_that_was_accepted_and_is_gone_is_found(self):
        self.world.call(
            "submit", 202, name="lost", key="lost", asked=None, bytes="lost", job="id-lost", code=None, what="post", has_callback=True)
        self.assert_breaks("each acknowledged job came to its end")

    def test_a_job_that_still_waits_is_found(self):
        self.assert_breaks(
            "each acknowledged job came to its end",
            lambda history: history.tables["queue"].append({"job": 1, "state": "pending", "lane": "quick", "attempt": 3}))

    def failed(self, code, **facts):
        """Changes the job's end."""
        def change(history):
            history.tables["attachments"][0].update(state="failed", code=code)
            for call in history.of("submit"):
                call.update(facts)
        return change

    OUTCOME = "each job came to what its kind comes to"

    def test_whole_media_that_ended_and_were_not_delivered_are_found_whatever_the_code(self):
        for code in ("store_failed", "store_full", "deadline_exceeded", "unrecognized_type"):
            self.assert_breaks(self.OUTCOME, self.failed(code))

    def test_whole_media_that_were_delivered_without_a_rendition_are_found(self):
        self.assert_breaks(self.OUTCOME, lambda history: history.of("submit")[0].update(what="large"))

    def test_media_that_cannot_be_delivered_and_fail_otherwise_are_found(self):
        for what in ("broken", "shut"):
            self.assert_breaks(self.OUTCOME, lambda history: history.of("submit")[0].update(what=what))
            self.assert_breaks(self.OUTCOME, self.failed("store_failed", what=what))

    def test_a_deadline_is_excused_by_the_time_that_passed_and_by_that_of_the_database_alone(self):
        def late(history):
            self.failed("deadline_exceeded")(history)
            history.tables["witness"][2]["at"] += 116
        self.assertEqual(self.judged(late).rules[self.OUTCOME][1], [])
        self.setUp()
        self.world.note("fault", what="a node's clock steps", node="node-1", offset=600, start=0, end=self.world.time)
        self.assert_breaks(self.OUTCOME, self.failed("deadline_exceeded"))
        self.world.note("fault", what="the database's clock steps", offset=3600, start=0, end=self.world.time)
        self.assertTrue(self.judged(self.failed("deadline_exceeded")).is_sound)
        self.assert_breaks(self.OUTCOME, self.failed("unrecognized_type"))

    def test_a_job_that_somebody_deleted_may_be_gone(self):
        self.world.call("delete_job", 204, attachment=self.attachment, job=self.job)
        self.world.jobs.clear()
        self.world.call("look", 404, job=self.job)
        self.assertTrue(self.judged().is_sound)

    def test_an_end_that_is_told_otherwise_later_is_found(self):
        self.world.look(self.job, self.attachment, self.hash, finished=2)
        self.assert_breaks("no end was taken back")

    def test_an_end_that_is_told_otherwise_after_a_retry_is_none(self):
        self.world.call("retry", 202, job=self.job)
        self.world.look(self.job, self.attachment, self.hash, finished=2)
        self.assertTrue(self.judged().is_sound)

    def test_a_finished_job_that_is_not_found_is_found(self):
        self.world.call("look", 404, job=self.job)
        self.assert_breaks("no end was taken back")

    def test_a_delivery_under_another_s_claim_is_found(self):
        self.world.see("claimed", 77, "first")
        self.world.see("freed", 77, earlier="first", client="10.77.0.12", was_dead=True)
        self.world.see("claimed", 77, "second", client="10.77.0.12")
        self.world.see("gone", 77, earlier="second", txid=9000)
        self.world.see("ended", 77, "first", txid=9000, state="delivered", earlier_state="pending")
        self.assert_breaks("each generation ended once, under the claim that held it")

    def test_a_generation_that_ends_twice_is_found(self):
        self.world.see("ended", 1, "claim-1", txid=1001, state="delivered", earlier_state="delivered")
        self.assert_breaks("each generation ended once, under the claim that held it")

    def test_a_delivery_whose_answer_was_lost_and_that_its_node_does_not_know_is_found(self):
        self.world.note("fault", what="answers to commits are lost", start=0, end=self.world.time, connections=1)
        self.assertTrue(self.judged().is_sound)
        self.setUp()
        self.world.note("fault", what="answers to commits are lost", start=0, end=self.world.time, connections=1)
        self.world.ends.clear()
        self.assert_breaks("who delivered knew it, also without an answer")

    def test_two_claims_of_one_job_are_found(self):
        self.world.see("claimed", 77, "first")
        self.world.see("claimed", 77, "second", earlier="first", client="10.77.0.12")
        self.assert_breaks("no claim was taken from who had it")

    def test_a_claim_that_is_freed_by_another_while_its_node_lives_is_found(self):
        self.world.see("claimed", 77, "first")
        self.world.see("freed", 77, earlier="first", client="10.77.0.12")
        self.assert_breaks("no claim was taken from who had it")

    def test_a_claim_may_be_freed_by_its_own_node_and_from_a_dead_one(self):
        self.world.see("claimed", 77, "first")
        self.world.see("freed", 77, earlier="first")
        self.world.see("claimed", 77, "second")
        self.world.see("freed", 77, earlier="second", client="10.77.0.12", was_dead=True)
        self.assertTrue(self.judged().is_sound)

    def test_other_bytes_are_found(self):
        self.world.read(self.lease, self.attachment, self.hash, sha256="other")
        self.assert_breaks("what was read had its hash")

    def test_a_rendition_that_does_not_open_at_last_is_found(self):
        self.world.read("last", self.attachment, self.hash, status=404, op="open")
        self.assert_breaks("each rendition of the records opened")

    def test_a_read_that_begins_after_a_revocation_returned_is_found(self):
        self.world.revoke(self.lease)
        self.world.read(self.lease, self.attachment, self.hash)
        self.assert_breaks("no read began after its access was taken back")

    def test_a_read_that_begins_after_its_attachment_was_deleted_is_found(self):
        self.world.call("delete", 204, attachment=self.attachment, job=self.job)
        self.world.read(self.lease, self.attachment, self.hash)
        self.assert_breaks("no read began after its access was taken back")

    def test_a_read_beside_a_revocation_and_one_after_a_failed_one_may_be_answered(self):
        read = self.world.read(self.lease, self.attachment, self.hash)
        self.world.revoke(self.lease, status=None)
        self.world.read(self.lease, self.attachment, self.hash)
        revoked = self.world.revoke(self.lease)
        revoked["start"], revoked["end"] = read["start"] + 0.001, read["end"] - 0.001
        revoked["lease"] = "another"
        self.assertTrue(self.judged().is_sound)

    def revoked_stream(self, after, node="node-1"):
        start = self.world.time
        revoked = self.world.revoke(self.lease)
        self.world.stream(self.lease, self.attachment, start, revoked["end"] + after, node)
        return revoked["end"]

    def test_a_stream_that_goes_on_for_two_seconds_is_found(self):
        self.revoked_stream(2)
        self.assert_breaks("streams ended within a second")

    def test_what_the_machine_kept_others_waiting_for_is_allowed(self):
        end = self.revoked_stream(2)
        for number in range(8):
            self.world.note("delay", at=end + number / 10, seconds=0.1)
        self.assertTrue(self.judged().is_sound)

    def test_a_node_that_sleeps_ends_its_streams_when_it_wakes(self):
        end = self.revoked_stream(11)
        self.world.note("fault", what="a node sleeps", node="node-1", start=end - 1, end=end + 10)
        self.assertTrue(self.judged().is_sound)

    def test_a_node_that_wakes_and_goes_on_is_found(self):
        end = self.revoked_stream(13)
        self.world.note("fault", what="a node sleeps", node="node-1", start=end - 1, end=end + 10)
        self.assert_breaks("streams ended within a second")

    def test_another_s_sleep_allows_nothing(self):
        end = self.revoked_stream(11)
        self.world.note("fault", what="a node sleeps", node="node-2", start=end - 1, end=end + 10)
        self.assert_breaks("streams ended within a second")

    def test_a_stream_that_outlives_its_node_s_way_to_the_database_is_found(self):
        start = self.world.time
        self.world.note("fault", what="a node can't talk to the database", node="node-1", start=start + 1, end=start + 9, direction="out")
        self.world.stream(self.lease, self.attachment, start, start + 6)
        self.assert_breaks("streams ended within a second")

    def test_a_key_that_opens_something_after_it_was_revoked_is_found(self):
        self.world.call("use_key", 200, of="key")
        self.world.revoke_key("key", status=None)
        self.world.call("use_key", 200, of="key")
        self.world.revoke_key("key")
        self.world.call("use_key", None, of="key")
        self.assertTrue(self.judged().is_sound)
        self.world.call("use_key", 200, of="key")
        self.assert_breaks("revoked keys opened nothing")

    def revoked_hold(self, after, node="node-1", key="key", **facts):
        start = self.world.time
        end = self.world.revoke_key(key)["end"]
        self.world.hold(key, start, end + after, node, **facts)
        return end

    WAITS = "streams and long polls ended within a second of their key"

    def test_a_wait_that_outlives_its_key_is_found_on_each_node(self):
        for node in ("node-1", "node-2", "node-3"):
            self.setUp()
            self.revoked_hold(2, node)
            self.assert_breaks(self.WAITS)
        for status in (200, 401, None):
            self.setUp()
            start, end = self.world.time, self.revoked_hold(0.5)
            self.world.hold("key", start, end + 2, what="a long poll", status=status)
            self.assert_breaks(self.WAITS)

    def test_a_wait_that_was_never_opened_is_none(self):
        start, end = self.world.time, self.revoked_hold(5, status=401)
        self.world.hold("key", start, end + 5, what="a long poll")
        self.assertTrue(self.judged().is_sound)

    def test_a_wait_that_ends_in_time_or_with_its_node_s_sleep_is_sound(self):
        self.revoked_hold(0.9)
        self.assertEqual(self.judged().rules[self.WAITS], (1, []))
        self.setUp()
        end = self.revoked_hold(11)
        self.world.note("fault", what="a node sleeps", node="node-1", start=end - 1, end=end + 10)
        self.assertTrue(self.judged().is_sound)
        self.world.note("fault", what="a node sleeps", node="node-2", start=end, end=end + 10)
        self.revoked_hold(5, "node-3", "another")
        self.assert_breaks(self.WAITS)

    def test_a_wait_ends_at_a_node_that_was_cut_off_once_that_can_ask(self):
        for after, holds in ((11, True), (12, False)):
            self.setUp()
            end = self.revoked_hold(after)
            self.world.note("fault", what="a node can't talk to the database", node="node-1", start=end - 1, end=end + 10)
            self.assertEqual(self.judged().rules[self.WAITS][1] == [], holds)
        self.setUp()
        end = self.revoked_hold(5, "node-2")
        self.world.note("fault", what="a node can't talk to the database", node="node-1", start=end - 1, end=end + 10)
        self.assert_breaks(self.WAITS)

    def test_a_wait_ends_once_another_database_has_taken_over(self):
        for after, holds in ((3, True), (5, False)):
            self.setUp()
            end = self.revoked_hold(after)
            self.world.note("fault", what="the primary is killed", start=end + 0.2, end=end + 2)
            self.assertEqual(self.judged().rules[self.WAITS][1] == [], holds)

    SIGNED = "calls were signed, at the receiver's time"

    def receipt(self, **facts):
        """Another attempt of the job's call."""
        one = next(one for one in self.world.events if one["kind"] == "receipt")
        return self.world.note(**{**one, "at": self.world.tick(), **facts})

    def test_a_call_with_no_good_signature_or_another_time_is_found(self):
        for facts in ({"signed": False}, {"off": 301}, {"off": -301}, {"off": None}):
            self.setUp()
            self.receipt(**facts)
            self.assert_breaks(self.SIGNED)

    def test_the_time_of_the_service_excuses_a_timestamp_and_that_of_a_node_does_not(self):
        self.receipt(off=3599)
        self.world.note("fault", what="a node's clock steps", node="node-1", offset=3600, start=0, end=self.world.time)
        self.assert_breaks(self.SIGNED)
        self.world.note("fault", what="the database's clock steps", offset=3600, start=0, end=self.world.time)
        self.assertTrue(self.judged().is_sound)

    def test_a_call_with_two_bodies_is_found(self):
        self.receipt(body="other")
        self.assert_breaks("each call kept its body")

    def test_a_token_in_a_call_ends_only_with_what_it_opens(self):
        about = next(one for one in self.world.events if one["kind"] == "receipt")["about"]
        long, short = '{"url": "/c/satl_abcdef/main.jpg"}', '{"url": "/c/satl_abc/main.jpg"}'
        self.world.receive("told", about, body=long)
        self.world.receive("told", about, body=short)
        self.assert_breaks("each call kept its body")
        self.world.call("delete_job", 204, job=about["id"], attachment="")
        self.assertFalse(self.judged().rules["each call kept its body"][1])
        self.world.receive("told", about, body=long)
        self.assert_breaks("each call kept its body")

    def test_a_call_that_tells_what_is_not_is_found(self):
        job, firing = (self.world.receive(f"unknown-{number}", {}) for number in range(2))
        told = next(one for one in self.world.events if one["kind"] == "receipt")["about"]
        made = told["attachments"][0]
        fired = {"type": "notification.fired", "id": "once", "generation": 1, "number": 1, "alert": "once"}
        changes = [
            (job, None), (job, {**told, "state": "running"}), (job, {**told, "attachments": [{**made, "renditions": {"main": "other"}}]}),
            (job, {**told, "attachments": [{**made, "opens": False}]}), (firing, {**fired, "alert": "other"})]
        for number, (receipt, wrong) in enumerate(changes):
            job["about"], firing["about"] = told, fired
            self.assertTrue(self.judged().is_sound)
            receipt["about"] = wrong
            self.assert_breaks("calls told what is")

    def test_a_call_of_another_firing_or_job_is_found(self):
        for kind, other in (("job", "other"), ("notification.fired", "changed")):
            self.setUp()
            receipt = next(one for one in self.world.events if one["kind"] == "receipt" and one["about"]["type"] == kind)
            receipt["about"] = {**receipt["about"], "id": other, "alert": other}
            self.assert_breaks("calls told what is")

    ARRIVED = "each call was accepted by its receiver"

    def test_a_call_that_failed_or_waits_or_counts_as_delivered_in_vain_is_found(self):
        for row in range(2):
            for facts in ({"state": "failed"}, {"state": "cancelled"}, {"state": "pending", "left": -21000}, {"id": "unheard"}):
                self.setUp()
                if "id" in facts and row == 1:
                    continue
                self.assert_breaks(self.ARRIVED, lambda history: history.tables["calls"][row].update(facts))
        self.setUp()
        for one in self.world.events:
            if one["kind"] == "receipt":
                one["status"] = 503
        self.assert_breaks(self.ARRIVED)

    def test_a_firing_of_which_no_call_tells_is_found(self):
        self.assert_breaks(self.ARRIVED, lambda history: history.tables["calls"].pop(1))

    def test_a_job_of_which_no_call_tells_is_found_unless_it_was_deleted(self):
        self.world.calls.pop(0)
        self.assert_breaks(self.ARRIVED)
        self.world.call("delete", 204, attachment=self.attachment, job=self.job)
        self.assertTrue(self.judged().is_sound)

    def test_a_call_may_be_cancelled_with_what_it_tells_and_may_wait_for_its_time(self):
        def cancelled(history):
            history.tables["calls"][1].update(state="cancelled")
        self.world.call("unnotify", 204, name="once")
        self.assertTrue(self.judged(cancelled).is_sound)
        self.assertTrue(self.judged(lambda history: history.tables["calls"][0].update(state="pending", left=5)).is_sound)

    def test_a_handover_may_end_by_the_database_s_time_and_not_by_a_node_s(self):
        def failed(history):
            history.tables["calls"][1].update(state="failed")
        self.world.note("fault", what="a node's clock steps", node="node-1", offset=600, start=0, end=self.world.time)
        self.assert_breaks(self.ARRIVED, failed)
        # It failed before, and after that.
        self.world.note("fault", what="the database's clock steps", offset=3600, start=self.world.time, end=self.world.time + 9)
        self.assert_breaks(self.ARRIVED, failed)
        self.world.note("fault", what="the database's clock steps", offset=3600, start=0, end=self.world.time)
        self.assertTrue(self.judged(failed).is_sound)

    LEFT = "nothing was carried out whose client had left"

    def give_up(self, name, taken="new", is_reset=True, world=None, pause=1):
        """A PUT of `old` that is given up, and after a pause one of `new` that is acknowledged; the one that is there at last."""
        world = world or self.world
        given_up = world.call(
            "submit", None, node="node-1", name=name, key=None, asked=name, bytes="old", identifier="old", what="put", job=name,
            is_reset=is_reset)
        world.time += pause
        world.submit(f"{name}-new", asked=name)
        if taken != "new":
            world.attachments[-1]["identifier"] = taken
        return given_up

    def test_a_put_that_was_given_up_and_takes_the_place_of_a_newer_one_is_found(self):
        self.give_up("asked", "old")
        self.assert_breaks(self.LEFT)

    def test_a_closed_connection_counts_only_when_its_request_is_stale(self):
        given_up = self.give_up("asked", "old", is_reset=False)
        self.assertTrue(self.judged().is_sound)
        sleep = {"what": "a node sleeps", "node": "node-1", "start": given_up["start"] - 1}
        self.world.note("fault", **sleep, end=given_up["start"] + 8)
        self.assertTrue(self.judged().is_sound)
        self.world.note("fault", **sleep, end=given_up["start"] + 14)
        self.assert_breaks(self.LEFT)

    def test_a_reset_that_arrives_as_its_request_is_carried_out_counts_where_the_node_sleeps(self):
        given_up = self.give_up("asked", "old", pause=0)
        self.assertTrue(self.judged().is_sound)
        self.world.note("fault", what="a node sleeps", node="node-1", start=given_up["start"] - 1, end=given_up["end"] + 2)
        self.assert_breaks(self.LEFT)

    def give_up_notification(self, name, state=None, world=None):
        world = world or self.world
        world.call("put_unwanted", None, node="node-1", name=name, is_reset=True)
        world.time += 1
        world.call("remove_unwanted", 404, name=name)
        if state:
            world.notifications.append({"tenant": "north", "id": name, "generation": 1, "state": state, "left": None})

    def test_a_removed_notification_that_returns_is_found(self):
        for state in ("pending", "done"):
            self.setUp()
            self.give_up_notification("unwanted", state)
            self.assert_breaks(self.LEFT)
        self.setUp()
        self.give_up_notification("unwanted", "cancelled")
        self.assertTrue(self.judged().is_sound)

    def test_a_key_that_comes_to_two_jobs_is_found(self):
        job, *_ = self.world.submit("one")
        other, *_ = self.world.submit("two")
        self.world.call("submit", 202, name="two", key="one", asked=None, bytes="one", job=other, code=None, what="post")
        self.assert_breaks("each key came to one job")

    def test_a_job_that_was_recorded_twice_and_told_once_is_found(self):
        self.world.attachments.append({**self.world.attachments[0], "id": "second", "job": 99})
        self.assert_breaks("each key came to one job")

    def test_a_list_that_lacks_a_job_or_has_one_twice_is_found(self):
        for jobs in ([], [self.job, self.job]):
            self.setUp()
            began = self.world.tick()
            self.world.call("page", list=jobs, began=began)
            self.assert_breaks("lists were whole")

    def test_a_notification_that_never_fired_is_found_unless_somebody_took_it_back(self):
        def unfired(history):
            history.tables["notifications"].append({"tenant": "north", "id": "lost", "generation": 1, "state": "done", "left": None})
        self.world.call("notify", 201, name="lost", what="once", generation=1)
        self.assert_breaks("each notification fired once", unfired)
        self.world.call("unnotify", None, name="lost")
        self.assertTrue(self.judged(unfired).is_sound)

    def test_a_notification_that_fired_twice_or_waits_for_ever_is_found(self):
        for change in (dict(id="again", number=2, place=None), dict(id="other", number=2, state="pending", place=None, generation=0)):
            self.setUp()
            self.assert_breaks(
                "each notification fired once",
                lambda history: history.tables["firings"].append({**history.tables["firings"][1], **change}))

    def test_a_notification_that_is_gone_or_older_than_was_told_is_found(self):
        self.assert_breaks("each notification fired once", lambda history: history.tables["notifications"].pop())
        self.setUp()
        self.world.call("notify", 200, name="once", what="changed", generation=2)
        self.assert_breaks("each notification fired once")

    def test_a_firing_by_hand_that_is_gone_or_was_made_or_answered_twice_is_found(self):
        rule = "each firing by hand was made once"
        self.world.call("fire", 200, name="manual", key="by hand", firing="firing-9")
        self.assert_breaks(rule)
        self.setUp()
        self.world.call("fire", 200, name="manual", key="lost", firing="firing-9")
        self.assert_breaks(rule)
        self.setUp()
        self.assert_breaks(
            rule, lambda history: history.tables["firings"].append({**history.tables["firings"][-1], "id": "other", "place": None}))

    def test_a_firing_that_a_puller_saw_twice_or_never_or_late_is_found(self):
        for firings in (["firing-1"], ["firing-9"]):
            self.setUp()
            self.world.call("pull", firings=firings)
            self.assert_breaks("who pulls firings saw each once")
        self.setUp()
        self.assert_breaks(
            "who pulls firings saw each once",
            lambda history: [row.update(place=4 - row["place"]) for row in history.tables["firings"]])

    def test_a_response_that_is_lost_or_kept_twice_or_was_never_said_is_found(self):
        rule = "each response was kept once, and had one answer"
        self.assert_breaks(rule, lambda history: history.tables["responses"].clear())
        for change in ({"place": 2}, {"place": 2, "id": "other"}):
            self.setUp()
            self.assert_breaks(
                rule, lambda history: history.tables["responses"].append({**history.tables["responses"][0], **change}))

    def test_a_response_that_was_answered_otherwise_later_is_found(self):
        self.world.call("respond", tenant=None, answer={"then": "dismiss"}, **self.said)
        self.assert_breaks("each response was kept once, and had one answer")

    def test_a_response_that_was_refused_and_kept_or_is_of_another_firing_is_found(self):
        said = self.world.respond("changed", times=0)
        self.world.call("respond", 409, tenant=None, answer=None, **said)
        self.assert_breaks("each response was kept once, and had one answer")
        self.setUp()
        self.assert_breaks(
            "each response was kept once, and had one answer", lambda history: history.tables["responses"][0].update(firing=2))

    def test_a_response_of_which_no_answer_came_may_be_kept_or_not(self):
        for times in range(2):
            said = {**self.said, "response": f"unheard-{times}"}
            self.world.call("respond", None, tenant=None, answer=None, **said)
            if times:
                self.world.responses.append({**self.world.responses[0], "id": said["response"], "place": 2})
        self.assertTrue(self.judged().is_sound)

    def test_an_offset_that_was_taken_back_is_found(self):
        rule = "no offset of an upload that was told was taken back"
        self.world.upload((10, 20, 15), whole=False)
        self.assert_breaks(rule)
        self.setUp()
        self.world.upload((20,), whole=False)
        self.assert_breaks(rule, lambda history: history.tables["uploads"][-1].update(received=19))

    def test_an_offset_that_was_asked_for_before_another_was_told_may_be_smaller(self):
        known = self.world.upload((20,), whole=False)
        early = self.world.call("ask_offset", tenant=None, told=10, **known)
        early["start"] = 0
        self.assertTrue(self.judged().is_sound)

    def test_a_whole_upload_of_other_or_no_bytes_is_found(self):
        rule = "whole uploads have their bytes"
        self.assert_breaks(rule, lambda history: history.tables["uploads"][0].update(sha256="other"))
        self.setUp()
        self.world.call("open_whole", tenant=None, upload="upload-1", sha256="other")
        self.assert_breaks(rule)

    def test_wrong_usage_is_found(self):
        self.assert_breaks("usage equals the records", lambda history: history.tables["usage"][0].update(unfinished_jobs=1))

    def test_a_wrong_count_of_references_is_found(self):
        self.assert_breaks("references equal the renditions", lambda history: history.tables["blobs"][0].update(refs=2))

    def test_a_record_without_its_object_is_found(self):
        self.assert_breaks("what records name is in the bucket", lambda history: history.tables["objects"].pop(0))

    def test_garbage_that_stays_is_found(self):
        self.assert_breaks(
            "garbage was collected", lambda history: history.tables["garbage"].append({"kind": "blob", "name": "old", "age": 500}))

    def test_an_object_that_nothing_names_is_counted_and_left_to_the_sweep(self):
        self.world.objects["blobs/77/stray/1"] = 3
        verdict = self.judged()
        self.assertTrue(verdict.is_sound)
        self.assertEqual(strays(verdict.history), ["blobs/77/stray/1"])


if __name__ == "__main__":
    unittest.main()
