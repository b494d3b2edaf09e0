//! Relevance, scripts, order and limits of the search.

use codemode_catalog::{Document, SearchIndex};

const TOOLS: &[(&str, &str, &str)] = &[
    ("openclaw:shipping:shipping_list", "shipping_list", "List shipments."),
    ("openclaw:shipping:shipping_cancel", "shipping_cancel", "Cancel one shipment."),
    ("openclaw:mail:gmail_send_message", "gmail_send_message", "Send an email through Gmail."),
    ("openclaw:mail:gmail_list_labels", "gmail_list_labels", "List the labels of a mailbox."),
    ("openclaw:chat:send_chat", "send_chat", "Send a message to a chat room."),
    ("openclaw:core:read", "read", "Read a file from the workspace."),
    ("openclaw:core:write", "write", "Write a file to the workspace."),
    ("openclaw:core:web_search", "web_search", "Search the web."),
    ("openclaw:web:webSearchImages", "webSearchImages", "Find pictures on the web."),
    ("openclaw:bank:portfolio", "portfolio", "Показать портфель пользователя"),
    ("openclaw:shop:order_status", "order_status", "查询订单状态"),
    ("openclaw:shop:invoices", "invoices", "Rechnungen für Kunden prüfen"),
    ("openclaw:cal:calendar_create_event", "calendar_create_event", "Create a calendar event."),
    ("openclaw:auth:2fa-status", "2fa-status", "Whether two-factor sign-in is on."),
    ("openclaw:shop:طلبات", "طلبات", "عرض الطلبات"),
];

fn index() -> SearchIndex {
    SearchIndex::build(TOOLS.iter().map(|(id, name, description)| Document {
        id,
        name,
        description,
        parameters: if *name == "read" { "path encoding" } else { "" },
        ..Document::default()
    }))
}

fn first(query: &str) -> &'static str {
    index().search(query, 8).first().map_or("-", |at| TOOLS[*at].1)
}

#[test]
fn the_wanted_tool_comes_first() {
    for (query, wanted) in [
        ("list shipments", "shipping_list"),
        ("shipment listing", "shipping_list"),
        ("cancel shipping", "shipping_cancel"),
        ("send email", "gmail_send_message"),
        ("sending an e-mail with gmail", "gmail_send_message"),
        ("chat message", "send_chat"),
        ("read local file", "read"),
        ("writing files", "write"),
        ("encoding", "read"),
        ("websearch", "web_search"),
        ("web search images", "webSearchImages"),
        ("портфель", "portfolio"),
        ("портфелей", "portfolio"),
        ("订单", "order_status"),
        ("订单查询", "order_status"),
        ("الطلبات", "طلبات"),
        ("prufen", "invoices"),
        ("Rechnung", "invoices"),
        ("calender", "calendar_create_event"),
        ("cal", "calendar_create_event"),
        ("creating events", "calendar_create_event"),
        ("2fa", "2fa-status"),
        ("mailbox", "gmail_list_labels"),
        ("the read", "read"),
    ] {
        assert_eq!(first(query), wanted, "{query}");
    }
}

#[test]
fn exact_names_and_ids_win_over_relevance() {
    for (id, name, _) in TOOLS {
        assert_eq!(first(id), *name);
        assert_eq!(first(name), *name);
        assert_eq!(first(&name.to_uppercase()), *name);
    }
    assert_eq!(first("Web-Search"), "web_search");
}

#[test]
fn a_blank_query_gives_the_first_page_and_nonsense_nothing() {
    let index = index();
    assert_eq!(index.search(" \n", 3), [0, 1, 2]);
    for query in ["qqqqzzzz", "!!!", "电", "xyzzyx plugh"] {
        assert!(index.search(query, 8).is_empty(), "{query}");
    }
    assert!(SearchIndex::build([]).search("a", 8).is_empty());
    assert!(index.search("list", 0).is_empty());
}

#[test]
fn ties_keep_the_order_of_the_catalog_and_limits_cut_from_the_end() {
    let ids: Vec<String> = (0..50).map(|i| format!("openclaw:p:tool_{i:02}")).collect();
    let index = SearchIndex::build(ids.iter().map(|id| Document {
        id,
        name: &id[11..],
        description: "Same words.",
        ..Document::default()
    }));
    let all = index.search("same words", 50);
    assert_eq!(all, (0..50).collect::<Vec<_>>());
    for limit in [1, 7, 49] {
        assert_eq!(index.search("same words", limit), all[..limit]);
    }
}

#[test]
fn hostile_queries_end() {
    let index = index();
    for query in ["a ".repeat(100_000), "x".repeat(1_000_000), "\u{300}".repeat(10_000)] {
        let _ = index.search(&query, 8);
    }
}
