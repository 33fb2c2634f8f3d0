//! The server's own pages. They have no row in the route table; a test of the server compares them with what it serves.

/// A page of the server's own.
#[derive(Debug)]
pub(in crate::openapi) struct Page {
    pub(in crate::openapi) id: &'static str,
    pub(in crate::openapi) path: &'static str,
    pub(in crate::openapi) summary: &'static str,
    pub(in crate::openapi) description: &'static str,
    pub(in crate::openapi) media_type: &'static str,
    /// What the statuses mean, and an example of each.
    pub(in crate::openapi) responses: &'static [(&'static str, &'static str, &'static str)],
}

pub(in crate::openapi) const PAGES: [Page; 6] = [
    Page {
        id: "livez",
        path: "/livez",
        summary: "Ask whether the process responds",
        description: "For a supervisor that restarts the process. It says nothing about the store.",
        media_type: "text/plain",
        responses: &[("200", "The process responds.", "ok\n")],
    },
    Page {
        id: "readyz",
        path: "/readyz",
        summary: "Ask whether the store can be used",
        description: "For a load balancer: 503 while the store cannot be read, or the disk is nearly full.",
        media_type: "text/plain",
        responses: &[
            ("200", "The store can be read and written.", "ready\n"),
            (
                "503",
                "The store cannot be used; the text says why.",
                "LowDisk: too little space is free; writes are refused\n",
            ),
        ],
    },
    Page {
        id: "metrics",
        path: "/metrics",
        summary: "Read the metrics",
        description: "Counters and gauges in the Prometheus exposition format.",
        media_type: "text/plain",
        responses: &[(
            "200",
            "The metrics.",
            "# TYPE deskfleet_queue_records gauge\ndeskfleet_queue_records 12\n",
        )],
    },
    Page {
        id: "openapi",
        path: "/openapi.json",
        summary: "Read this document",
        description: "The OpenAPI 3.1 document of this version of the server.",
        media_type: "application/json",
        responses: &[("200", "This document.", "")],
    },
    Page {
        id: "index",
        path: "/",
        summary: "See what runs here",
        description: "The version and where to look; a page in HTML for a client that accepts it.",
        media_type: "application/json",
        responses: &[("200", "What runs here.", "")],
    },
    Page {
        id: "icon",
        path: "/favicon.ico",
        summary: "Read the icon",
        description: "The icon that browsers ask for.",
        media_type: "image/svg+xml",
        responses: &[("200", "The icon, as SVG.", "")],
    },
];
