//! The starting values of a request.

use http::{HeaderMap, Method};

use super::{Spec, Throttles};
use crate::body::Body;
use crate::egress::Hosts;
use crate::settings::Settings;
use crate::trace::TraceContext;

impl Spec {
    pub(crate) fn new(settings: &Settings, method: Method, url: &str) -> Self {
        Spec {
            method,
            url: url.to_owned(),
            headers: HeaderMap::new(),
            query: Vec::new(),
            body: Body::default(),
            timeout: None,
            connect_timeout: settings.connect_timeout,
            read_timeout: settings.read_timeout,
            total_timeout: settings.total_timeout,
            deadline: settings.deadline,
            attempts: settings.attempts,
            credential: None,
            idempotent: false,
            publish: false,
            throttles: Throttles::default(),
            provider: None,
            operation: None,
            bytes_max: settings.response_bytes_max,
            context: TraceContext::default(),
            hosts: Hosts::default(),
            scope: None,
            rate: None,
            chat: None,
            proxy: None,
            redirects: 0,
            cache: None,
        }
    }
}
