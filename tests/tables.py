"""What a person does at a table in the browser, and what the page's traffic held."""

import json

WITHIN = 90_000  # milliseconds that anything may take on a busy machine
MINE = "body.mine #controls button[data-key]:enabled"
OVER = "#status:text('is over')"
DRAWN = "#board svg[role=img]:not(.face)"  # the server's picture
BAD = ("error", "warning")


def sit(page, name):
    page.fill("#name", name)
    page.click("#sit button")
    page.wait_for_selector("#stand:visible")


def move(page, action, **values):
    """Play an action of this turn, with exact values, and wait until the turn is over."""
    page.wait_for_selector(MINE)
    turn = turn_of(page)
    form = page.locator(f"form.move:has([data-action={action}])")
    for field, value in values.items():
        form.locator(f"label:has-text('{field.replace('_', ' ')}') input[type=number]").fill(str(value))
    form.locator(f"[data-action={action}]").click()
    passed(page, turn)


def passed(page, turn):
    """Wait until a turn is over: somebody else's, the same person's next one, or the end."""
    page.wait_for_selector(f"#controls:not([data-turn='{turn}'])", state="attached")


def turn_of(page):
    return page.get_attribute("#controls", "data-turn")


def shown(page):
    """Return the board's text, when the picture is there where the server draws one."""
    page.wait_for_selector(DRAWN, state="attached")
    page.wait_for_load_state("networkidle")
    return page.text_content("#board")


def cut_off_once(kind):
    """Return a handler of sockets that cuts the connection in place of the first message of a kind.

    Return too the list that gets all messages of the kind.
    """
    sent = []

    def handle(socket):
        server, closed = socket.connect_to_server(), []

        def passing(send):
            def pass_on(message):
                if closed:
                    return None
                if json.loads(message)["type"] == kind:
                    sent.append(message)
                    if len(sent) == 1:
                        closed.append(True)
                        return socket.close(code=3001)
                return send(message)

            return pass_on

        socket.on_message(passing(server.send))
        server.on_message(passing(socket.send))

    return handle, sent
