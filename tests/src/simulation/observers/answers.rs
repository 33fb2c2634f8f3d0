//! What holds for every response.

use std::collections::BTreeMap;

use crate::demand;
use crate::simulation::fact::{Fact, Intent, Observer, Verdict};

/// Statuses are those of the contract; 503 has `Retry-After`, and problems are problem bodies.
#[derive(Debug)]
pub struct Answers;

impl Observer for Answers {
    fn promise(&self) -> &'static str {
        "every answer is well formed"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        let Fact::Answered(_, intent, _, answer) = fact else {
            return Ok(());
        };
        let known = matches!(
            answer.status,
            200 | 201 | 400 | 401 | 403 | 404 | 409 | 429 | 503
        );
        demand!(known, "{intent:?} was answered {}", answer.text);
        if answer.http && answer.status == 503 {
            demand!(answer.retry_after, "no Retry-After: {}", answer.text);
        }
        if answer.http && answer.status >= 400 {
            let problem: Result<serde_json::Value, _> = serde_json::from_str(&answer.body);
            let status = problem.map(|problem| problem["status"].as_u64());
            demand!(
                matches!(status, Ok(Some(status)) if status == u64::from(answer.status)),
                "no problem body: {}",
                answer.text
            );
        }
        Ok(())
    }
}

/// No text of a key leaves the engine except in the response that issues it, nor reaches the disk.
#[derive(Debug, Default)]
pub struct Secrets {
    secrets: BTreeMap<u64, String>,
}

impl Secrets {
    fn search(&self, text: &str) -> Verdict {
        for (key, secret) in &self.secrets {
            demand!(!text.contains(secret), "the text of key {key} in {text}");
        }
        Ok(())
    }
}

impl Observer for Secrets {
    fn promise(&self) -> &'static str {
        "no key is shown twice, logged, or stored"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        match fact {
            Fact::Issued(key, secret) => {
                let twice = self.secrets.values().any(|known| known == secret);
                demand!(!twice, "key {key} has the text of another");
                self.secrets.insert(*key, (*secret).to_owned());
                Ok(())
            }
            Fact::Answered(_, Intent::IssueKey(_), ..) => Ok(()),
            Fact::Answered(_, _, _, answer) => self.search(&answer.text),
            Fact::Log(text) => self.search(text),
            Fact::Read(reading) => self.search(&format!("{:?}", reading.audit)),
            Fact::Disk(holds_key) => {
                demand!(!holds_key, "the text of a key is on the disk");
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
