"""Drives a mafia host's session without sockets: answers its calls as agents would."""

from mafia_players import FIVE, TEN, session
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent_policy import night_targets, vote_targets
from parlour.wrappers.live.mafia.match_report import Fault, MatchEvent


class Driver:
    """Makes a session's calls one after another, and keeps what has happened.

    Args:
        session: of the match.
        answers: functions by method, from (call, context, info) to the answer: the chunks of a stream, or a choice. An
            exception that is raised is the agent's failure. By default agents do what the rules want, and no more.
    """

    def __init__(self, session, **answers):
        self.session = session
        self.answers = {"think": thinks, "say": says, "nightAction": acts, "vote": abstains} | answers
        self.happened = []
        self.calls = []
        self.made = []

    def events(self, *types):
        """The payloads of the events of these types."""
        told = [one for one in self.happened if isinstance(one, MatchEvent)]
        return [one.payload for one in told if one.event_type in types]

    def faults(self):
        """Method, problem and what was done instead, of every fault."""
        return [(one.method, one.problem, one.instead) for one in self.happened if isinstance(one, Fault)]

    def take(self, step):
        """Keep what a step tells."""
        self.happened += step.happened
        self.calls += step.calls

    def begin(self):
        """Begin the match."""
        self.take(self.session.begin())

    def make(self, call):
        """Make a call."""
        self.calls.remove(call)
        arguments = self.session.arguments(call.number)
        self.made.append((call, *arguments))
        try:
            answer = self.answers[call.method](call, *arguments)
        except ValueError as error:
            return self.take(self.session.failed(call.number, str(error)))
        if not call.characters:
            return self.take(self.session.answered(call.number, answer))
        for chunk in answer:
            self.take(self.session.chunk(call.number, chunk))
        return self.take(self.session.finished(call.number))

    def play(self, until=lambda self: False):
        """Make calls until the match is over, or a condition holds."""
        self.begin()
        while self.calls and not until(self):
            self.make(self.calls[0])
        return self


def thinks(call, context, info):
    return ["Hm."]


def says(call, context, info):
    return ["I have ", "nothing to report."]


def acts(call, context, info):
    return wire.NightAction(wire.NIGHT_ACTIONS[info.self.role], night_targets(info)[0])


def abstains(call, context, info):
    return wire.VoteAction(None)


def votes(call, context, info):
    return wire.VoteAction(vote_targets(f"p{call.seat + 1}", context)[0])


def only(seat, mine, others):
    """Answer as `mine` in one seat, as `others` in the others."""
    return lambda call, context, info: (mine if call.seat == seat else others)(call, context, info)


def dealt(role, seats=10):
    """A session in which the first seat has a role."""
    one = TEN if seats == 10 else FIVE
    return next(made for made in (session(seed, one) for seed in range(100)) if made.roles[0] == role)
