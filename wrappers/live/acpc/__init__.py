"""The match protocol of the Annual Computer Poker Competition (ACPC), heads-up no-limit: both ends.

Each seat gets the whole hand after every action, as one line of text, and answers with that line and an action.
"""
