//! The choices of a run: what happens next.

use deskfleet::Stream;
use http::Method;

use super::calls::upkeep_end;
use super::fact::{Fact, Intent, Mark, Upkeep, UpkeepEnd};
use super::fault_schedule::fault;
use super::fleet::{
    ABSURD, ACTIONS, DESKS, INSTANCES, USERS, action_target, desk_json, filed_day, json, lines,
    post_path, request,
};
use super::world::World;

type Step = Result<(), String>;

impl World {
    /// One step.
    pub(super) fn step(&mut self) -> Step {
        match self.chance.u32(..121) {
            0..26 => self.telemetry(),
            26..38 => self.act(),
            38..43 => self.hold(),
            43..48 => self.store(),
            48..53 => self.keys(),
            53..61 => self.reads(),
            61..66 => self.page(),
            66..76 => self.turn(),
            76..78 => self.hang_up(),
            78..84 => {
                self.time.pass(&mut self.chance);
                self.clock_moved()
            }
            84..86 => {
                self.tally.jumps += 1;
                self.time.jump(&mut self.chance);
                self.clock_moved()
            }
            86..91 => self.upkeep(),
            91..95 => {
                let (part, fault, lasting) = fault(&mut self.chance);
                self.disk.fail(part, fault, lasting);
                let message = format!("{fault:?} of {part:?}, lasting: {lasting}");
                self.notify(&Fact::Log(&message))
            }
            95..97 => self.crash(),
            97 => self.restart(),
            98 | 99 => self.repair_and_read(),
            100 => self.flood(),
            101 => self.episode(),
            102 => self.season(),
            _ => self.provide(),
        }
    }

    /// A record: a new one, or an exact retry.
    pub(super) fn mark(&mut self) -> Mark {
        if self.chance.u32(..4) == 0
            && let Some(old) = self.chance.choice(&self.sent).cloned()
        {
            return self.again(&old);
        }
        // The clock of a desktop differs from that of the engine.
        let (now, right) = (self.time.now(), self.time.right());
        let sent = match self.chance.u32(..14) {
            0 | 1 => None,
            2 => Some(now.plus_seconds(86_401)),
            3 => Some(now.plus_seconds(-100 * 86_400)),
            4 => self
                .chance
                .choice(ABSURD)
                .and_then(|time| time.parse().ok()),
            5 => Some(now.plus_seconds(-86_400)),
            6 | 7 => Some(now.plus_seconds(-self.chance.i64(0..600))),
            8 => Some(right.plus_seconds(-self.chance.i64(0..4 * 86_400))),
            _ => Some(right.plus_seconds(-self.chance.i64(0..600))),
        };
        let mark = Mark {
            number: 0,
            stream: self.chance.choice(Stream::ALL).unwrap_or(Stream::Stats),
            instance: self.chance.choice(INSTANCES).unwrap_or(""),
            user: self.chance.choice(USERS).unwrap_or(USERS[0]),
            items: 1,
            sent,
            filed_day: 0,
        };
        self.like(&mark)
    }

    /// A new record that differs from this one in its number.
    pub(super) fn like(&mut self, mark: &Mark) -> Mark {
        self.next_record += 1;
        let mark = self.again(&Mark {
            number: self.next_record,
            ..mark.clone()
        });
        self.sent.push(mark.clone());
        mark
    }

    /// The same record, sent now.
    pub(super) fn again(&self, mark: &Mark) -> Mark {
        let now = self.time.now();
        Mark {
            filed_day: filed_day(mark.stream, mark.sent, now, self.swept),
            ..mark.clone()
        }
    }

    /// Sends records in one batch.
    pub(super) fn batch(&mut self, marks: Vec<Mark>) -> Step {
        let target = "/operator/telemetry";
        let batch = request(Method::POST, target, &self.key, lines(&marks));
        self.send(Intent::Telemetry(marks), batch)
    }

    pub(super) fn telemetry(&mut self) -> Step {
        let key = self.key.clone();
        match self.chance.u32(..8) {
            0 => {
                let count = self.chance.usize(2..20);
                let marks: Vec<_> = (0..count).map(|_| self.mark()).collect();
                self.batch(marks)
            }
            1 => {
                let marks = vec![self.mark(), self.mark()];
                let bodies: Vec<_> = marks.iter().map(|mark| (mark.stream, json(mark))).collect();
                let intent = Intent::Telemetry(marks);
                let ended = self.typed(&intent, |engine| {
                    let mut batch = engine.batch();
                    for (stream, body) in &bodies {
                        batch.push_json(*stream, body.as_bytes())?;
                    }
                    Ok(engine.record_batch(batch)?)
                });
                ended.map(drop)
            }
            way => {
                let mark = self.mark();
                let post = request(Method::POST, post_path(mark.stream), &key, json(&mark));
                let intent = Intent::Telemetry(vec![mark]);
                if way == 2 {
                    self.ask(&intent, post).map(drop)
                } else {
                    self.send(intent, post)
                }
            }
        }
    }

    fn desk(&mut self) -> &'static str {
        self.chance.choice(DESKS).unwrap_or("ws-1")
    }

    fn act(&mut self) -> Step {
        let desk = self.desk();
        if self.chance.u32(..6) == 0 {
            return self.end_any();
        }
        let action = self.chance.choice(ACTIONS).unwrap_or(ACTIONS[0]);
        let requester = format!("call-{}", self.tally.calls);
        let kind = self.chance.usize(..4);
        let intent = Intent::Act {
            action,
            desk,
            requester: requester.clone(),
        };
        if self.chance.u32(..4) == 0 {
            let asked = deskfleet::ActionRequest {
                action,
                workspace_id: Some(desk.to_owned()),
                sam_account: None,
                requester: Some(requester),
                compute_type: (action == deskfleet::Action::ChangeComputeType)
                    .then(|| "POWER".to_owned()),
            };
            return self.typed(&intent, |engine| engine.act(asked)).map(drop);
        }
        let target = action_target(action, desk, &requester, kind);
        let post = request(Method::POST, &target, &self.key, String::new());
        self.send(intent, post)
    }

    /// The host ends an action, whether or not a provider has begun it.
    fn end_any(&mut self) -> Step {
        let Ok(running) = self.engine()?.pending_actions() else {
            return Ok(());
        };
        let running = self.chance.choice(&running);
        running.map_or(Ok(()), |running| self.end_action(running.id))
    }

    /// Ends the action.
    pub(super) fn end_action(&mut self, id: u64) -> Step {
        let well = self.chance.bool();
        let word = if well { "complete" } else { "fail" };
        let target = format!("/operator/actions/{id}/{word}");
        let post = request(Method::POST, &target, &self.key, String::new());
        self.send(Intent::End(id, well), post)
    }

    pub(super) fn hold(&mut self) -> Step {
        let desk = self.desk();
        let target = format!("/operator/workspaces/{desk}/litigation-hold");
        let (intent, method, body) = if self.chance.u32(..3) > 0 {
            (
                Intent::Hold(desk),
                Method::PUT,
                r#"{"matter":"Doe v. Roe"}"#,
            )
        } else {
            (Intent::Release(desk), Method::DELETE, "")
        };
        let asked = request(method, &target, &self.key, body.to_owned());
        self.send(intent, asked)
    }

    pub(super) fn store(&mut self) -> Step {
        let desk = self.desk();
        if self.chance.u32(..4) == 0 {
            let target = format!("/api/Information/RemoveWorkSpaceDbEntry?workSpaceId={desk}");
            let asked = request(Method::POST, &target, &self.key, String::new());
            return self.send(Intent::Remove(desk), asked);
        }
        let [state, user, kind] = std::array::from_fn(|_| self.chance.usize(..12));
        let target = format!("/operator/workspaces/{desk}?override=true");
        let body = desk_json(state.saturating_sub(6), user, kind);
        let asked = request(Method::PUT, &target, &self.key, body);
        self.send(Intent::Put(desk), asked)
    }

    fn keys(&mut self) -> Step {
        let some = self
            .chance
            .choice(&self.keys.clone())
            .map(|(id, key)| (*id, key.clone()));
        match (self.chance.u32(..6), some) {
            (0 | 1, _) | (_, None) => {
                let name = format!("key {}", self.tally.calls);
                let body = serde_json::json!({ "name": name, "scopes": ["read"] });
                let asked = request(Method::POST, "/operator/keys", &self.key, body.to_string());
                self.send(Intent::IssueKey(name), asked)
            }
            (2, Some((id, _))) => {
                let target = format!("/operator/keys/{id}");
                let asked = request(Method::DELETE, &target, &self.key, String::new());
                self.send(Intent::RevokeKey(id), asked)
            }
            (way, Some((id, key))) => {
                let mut target = "/api/Information/GetAllWorkSpaces?limit=1".to_owned();
                let mut asked = request(Method::GET, &target, &key, String::new());
                if way == 3 {
                    target = format!("{target}&apiKey={key}");
                    asked = request(Method::GET, &target, "", String::new());
                    asked.headers_mut().remove("x-api-key");
                }
                self.look_up(&Intent::UseKey(id), asked).map(drop)
            }
        }
    }

    fn reads(&mut self) -> Step {
        let instance = self.chance.choice(["ws-1", "pool", ""]).unwrap_or("");
        let targets = [
            "/api/Stats/queue/count".to_owned(),
            "/api/Stats/Test".to_owned(),
            "/api/Information/GetUserInformation?username=ann".to_owned(),
            "/api/Information/Get24HourActivity".to_owned(),
            "/api/Information/GetAdminActivity?numberOfActivities=5".to_owned(),
            "/api/Information/GetWorkSpacesOnLitigationHold?limit=2".to_owned(),
            format!("/operator/telemetry/stats?instanceId={instance}&limit=2"),
            "/operator/keys".to_owned(),
            "/operator/actions".to_owned(),
            "/operator/workspaces?state=available&q=ws".to_owned(),
        ];
        let target = self.chance.choice(&targets).unwrap_or(&targets[0]);
        let intent = if target.ends_with("count") {
            Intent::QueueCount
        } else {
            Intent::Read
        };
        let asked = request(Method::GET, target, &self.key, String::new());
        self.look_up(&intent, asked).map(drop)
    }

    /// The next page of a walk through all workspaces, or the first of a new one.
    fn page(&mut self) -> Step {
        let token = self.token.take();
        let limit = self.chance.usize(1..4);
        let mut target = format!("/api/Information/GetAllWorkSpaces?limit={limit}");
        if let Some(token) = &token {
            target = format!("{target}&nextToken={token}");
        }
        let intent = Intent::Page {
            first: token.is_none(),
            limit,
        };
        let asked = request(Method::GET, &target, &self.key, String::new());
        let answer = self.look_up(&intent, asked)?;
        let page: serde_json::Value = serde_json::from_str(&answer.body).unwrap_or_default();
        self.token = match answer.status {
            200 => page["nextToken"].as_str().map(str::to_owned),
            // The client tries the same page again.
            _ => token,
        };
        Ok(())
    }

    /// One turn of the event loop.
    fn turn(&mut self) -> Step {
        self.collect()
    }

    /// A client disconnects before its answer. Its request may still take effect.
    fn hang_up(&mut self) -> Step {
        if !self.calls.is_empty() {
            let nth = self.chance.usize(..self.calls.len());
            self.calls[nth].future = None;
            if self.callers_commit() {
                // Its write is committed with the others.
                return self.collect();
            }
        }
        Ok(())
    }

    fn upkeep(&mut self) -> Step {
        let engine = self.engine()?;
        let way = self.chance.u32(..8);
        let right = self.time.is_about_right();
        let ended = match way {
            0..3 => engine.file_pending().map(drop),
            3..6 => return self.maintain(),
            6 if right => return self.retain(),
            _ => engine.compact().map(drop),
        };
        self.collect()?;
        self.notify(&Fact::Log(&format!("upkeep {way}: {ended:?}")))?;
        self.notify(&Fact::Upkeep(ended.is_ok()))
    }

    /// Notes that the clock was moved.
    pub(super) fn clock_moved(&mut self) -> Result<(), String> {
        self.notify(&Fact::Clock(self.time.now(), self.time.right()))
    }

    /// Upkeep that may sweep has ended.
    fn swept(&mut self, how: Upkeep) -> Result<(), String> {
        self.collect()?;
        self.see_swept(how)?;
        self.notify(&Fact::Retained(self.swept, self.time.now()))?;
        let (Upkeep::Maintained(end) | Upkeep::Applied(end)) = how else {
            return Ok(());
        };
        self.notify(&Fact::Upkeep(end == UpkeepEnd::Whole))
    }

    /// Calls `maintain`.
    pub(super) fn maintain(&mut self) -> Step {
        let ended = self.engine()?.maintain();
        self.swept(Upkeep::Maintained(upkeep_end(&ended)))
    }

    /// Calls `apply_retention`.
    pub(super) fn retain(&mut self) -> Step {
        let ended = self.engine()?.apply_retention();
        self.swept(Upkeep::Applied(upkeep_end(&ended)))
    }
}
