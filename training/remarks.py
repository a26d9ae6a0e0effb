"""What people say around a request: openings, asides and closings that ask for nothing, put together from parts."""

# ruff: noqa: E501

import random

from training import words as w
from training.draws import clock, invented, person

PREFIXES = (
    "Hi! ", "Hello, ", "Hey, ", "Quick question: ", "One more thing: ", "Please: ", "I have a request. ", "Good morning. ", "Next: ",
    "Okay, ", "Thanks. ", "So, ", "Now, ", "Hi there. ", "When you have a moment: ", "Great. ", "And now: ", "Well, ", "Alright, ",
    "Yes, ", "Listen, ", "Fine. ", "Good day! ", "Morning! ", "Excuse me, ", "Sorry to bother you. ", "Dear assistant, ", "Yo, ",
    "Then, ", "First, ", "Last one: ", "Question: ", "Task: ", "My request: ", "Hm, ", "Oh, ", "Ah, ", "By the way, ", "Something else: ",
    "Back again. ", "A small thing: ", "Perfect. ", "Super. ", "Welcome back. ", "Let's see. ", "Attention: ", "To begin with, ", "Urgent: ",
)  # fmt: skip
HELD_PREFIXES = ("Right, ", "Good evening! ", "Another one: ", "Hello there, ")
SUFFIXES = (
    " Thanks!", " Thank you.", " It's urgent.", " Please.", " Thanks in advance.", " I'm in a hurry.", " Much appreciated.", " Thx",
    " Ta.", " Thank you so much!", " Thanks a bunch.", " Thanks again.", " Bless you.", " Please and thank you.", " Gracias!", " Merci.",
)  # fmt: skip
HELD_SUFFIXES = (" Cheers!", " Many thanks.", " No rush.")
ASIDES = (
    "We are {a}.", "I'm {a} today.", "My {n} is {a}.", "The {n} was {a} again.", "I was at the {n} all day.", "Work was {a}.", "I can't wait.",
    "My colleague wants to know.", "It's for a friend.", "I forgot the {n}.", "We're short of time.", "I'm curious.", "There is a {n} in the way.",
    "I'd rather not do it myself.", "Here is what I need.", "I am writing from a {a} {n}.", "You helped me before.", "This one is easy.",
    "What a {a} {n}.", "I just had {n} for lunch.", "I lost my {n}.", "My boss is {a}.", "I don't know how.", "Don't ask me why.",
    "The last {n} went well.", "It has been a {a} day.", "You may know this.", "{p} told me to ask you.", "I promised it to {p}.", "I'm back.",
    "We talked about it.", "I've got a {n} to catch.", "Life is {a}.", "This is {p}.", "As I said, it's about a {a} {n}.", "Bear with me.",
)  # fmt: skip
AFTER = (
    "Do it now.", "Go ahead.", "Make it quick.", "That's it.", "I'd be glad.", "Can you?", "Show me.", "Tell me.", "I need it soon.",
    "Book it.", "OK?", "Do that for me.", "I'm waiting.", "Take your time.", "Thanks a million.", "Appreciate it!", "Sorry for the trouble.",
    "That would be great.", "I owe you one.", "You're a star.", "No hurry.", "Whenever you can.", "It can wait a little.", "I trust you.",
    "Nothing else.", "Just that.", "That is all I need.", "Then I'm done.", "Good luck!", "Have a nice day.", "Best wishes.", "Kind regards.",
    "Greetings.", "Till later.", "Love it.", "Hope that's clear.", "Is that possible?", "Would that work?", "Could you do that?", "Will you?",
    "If you can.", "If possible.", "Let me know.", "Keep me posted.", "I'm listening.", "Ready?", "Come on!", "Hurry up.", "Quickly!", "Now!",
    "Show it.", "Log it.", "Check it.", "Do it please.", "Record that.", "Look it up.", "Run it.", "Find it.", "List it.", "Open it.",
    "Sounds good?", "You know the rest.", "As always.", "Like last time.", "For me.", "I insist.", "Why not.", "Let's go.", "So be it.",
    "Bye.", "See you.", "Ciao!", "Over and out.", "End of message.", "Have fun.", "Great job so far.", "You're the best.", "No pressure.",
    "No worries.", "No problem if it takes long.", "No need to explain.", "Nothing fancy.", "Any time today.", "In your own time.", "Easy.",
    "At your leisure.", "Don't hurry.", "Don't worry.", "Don't be late.", "Be quick.", "Be careful.", "Be so kind.", "Be well.", "Stay safe.",
    "I'd love that.", "I'd like to see it.", "I wonder.", "I hope so.", "I mean it.", "I can wait.", "I have to go.", "I really need this.",
    "It matters to me.", "It's important.", "It's not urgent.", "It's for work.", "It's late.", "It is what it is.", "You rock!", "You decide.",
    "Yes please.", "Yes, really.", "Really.", "Seriously.", "Exactly that.", "This time only.", "Once is enough.", "First thing, please.",
    "As soon as you can.", "As you like.", "Before I forget.", "If it isn't too much trouble.", "When you're free.", "After that I'm happy.",
    "🙏", "👍", "😀", "❤️", ":)", ";-)", "...", "!!", "Thanks 🙏", "xx",
)  # fmt: skip
_AMOUNTS = (
    "Lots of",
    "Loads of",
    "Tons of",
    "A thousand",
    "Heaps of",
    "So much",
    "With",
    "All my",
    "Big",
    "Warm",
    "A hundred",
    "My",
    "Endless",
)
_GOODS = (
    "thanks",
    "love",
    "hugs",
    "kisses",
    "gratitude",
    "regards",
    "wishes",
    "respect",
    "appreciation",
    "greetings",
    "applause",
    "joy",
)
_NEGATIVES = (
    "pressure",
    "stress",
    "hurry",
    "worries",
    "panic",
    "drama",
    "excuses",
    "fuss",
    "questions",
    "delay",
    "big deal",
    "problem",
    "need",
    "way",
)


def closing(rng: random.Random) -> str:
    """A last remark that asks for nothing more: one of the above, one made of its parts, or an exclamation of any word."""
    while True:
        text = _closing(rng)
        if all(held.strip(" .!").lower() not in text.lower() for held in HELD_SUFFIXES):
            return text


def _closing(rng: random.Random) -> str:
    roll = rng.random()
    if roll < 0.45:
        return rng.choice(AFTER)
    mark = rng.choice((".", "!", ".", ""))
    if roll < 0.6:
        made = rng.choice(
            (
                f"{rng.choice(_AMOUNTS)} {rng.choice(_GOODS)}",
                f"No {rng.choice(_NEGATIVES)}",
                f"{rng.choice(_GOODS).capitalize()}",
                f"{rng.choice(('Yours', 'Best', 'Love', 'Regards', 'Thanks'))}, {person(rng)}",
                f"It's {clock(rng)} already",
                f"I have {rng.randint(2, 40)} minutes left",
                f"{rng.choice(w.FIRST_NAMES)} can't wait",
                f"We leave on {rng.choice(w.WEEKDAYS)}",
                f"{rng.choice(w.FIRST_NAMES)} asked for it",
                f"- {person(rng)}",
            )
        )
        return made + mark
    word = rng.choice((rng.choice(w.ADJECTIVES), rng.choice(w.NOUNS), rng.choice(w.VERBS), invented(rng)))
    other = rng.choice((rng.choice(w.NOUNS), rng.choice(w.ADJECTIVES), "thanks", "work", "regards"))
    text = rng.choice(
        (
            "{w}", "{w}", "{w} {o}", "So {w}", "Very {w}", "How {w}", "No {o}", "All {o}", "My {o} is {w}", "Much {o}", "Be {w}", "{w} and {o}",
            "Not {w}", "I feel {w}", "The {w} {o}", "Some {o}", "Oh {w}", "This is {w}", "I like {o}", "You are {w}", "We have {o}", "It was {w}",
        )
    )  # fmt: skip
    text = text.replace("{w}", word).replace("{o}", other)
    return text[0].upper() + text[1:] + mark


def aside(rng: random.Random) -> str:
    """A remark that asks for nothing."""
    text = rng.choice(ASIDES).replace("{a}", rng.choice(w.ADJECTIVES)).replace("{n}", rng.choice(w.NOUNS))
    return text.replace("{p}", rng.choice(w.FIRST_NAMES))


def opening(rng: random.Random) -> str:
    """A greeting or a word before the request, with the space after it; none of the held ones."""
    while True:
        text = _opening(rng)
        if not text.startswith(tuple(held[:5] for held in HELD_PREFIXES[:3])):
            return text


def _opening(rng: random.Random) -> str:
    roll = rng.random()
    if roll < 0.75:
        return rng.choice(PREFIXES)
    name = rng.choice(w.FIRST_NAMES)
    return rng.choice(
        (
            f"Hi {name}, ", f"Dear {name}, ", f"Hey {name}! ", f"{rng.choice(w.ADJECTIVES).capitalize()}. ", f"Good {rng.choice(w.WEEKDAYS)}! ",
            f"{rng.choice(w.ADJECTIVES).capitalize()}! ", f"{name} here. ", f"{invented(rng)}! ", f"Number {rng.randint(2, 9)}: ",
            f"{rng.choice(('Small', 'Next', 'New', 'Short', 'Simple', 'Last', 'Daily'))} {rng.choice(('question', 'task', 'job', 'request', 'thing', 'wish'))}: ",
        )
    )  # fmt: skip


def dress(rng: random.Random, text: str, held: bool, values: tuple[str, ...] = ()) -> str:
    """Greetings, thanks and casual spelling around a request; a value at its start keeps its spelling."""
    fixed = text.startswith("I") or any(text.startswith(value) for value in values if value)
    if rng.random() < 0.15:
        text = text.rstrip(".?") or text
    if rng.random() < 0.2:
        prefix = rng.choice(HELD_PREFIXES) if held else opening(rng)
        text = prefix + (text[0].lower() + text[1:] if prefix.endswith((", ", ": ")) and not fixed else text)
    elif rng.random() < 0.1 and not fixed:
        text = text[0].lower() + text[1:]
    if rng.random() < 0.1:
        text = text + ("" if text[-1] in ".?!" else ".") + rng.choice(HELD_SUFFIXES if held else SUFFIXES)
    if not held and rng.random() < 0.1:
        text = aside(rng) + " " + text
    if not held and rng.random() < 0.22:
        text = text + ("" if text[-1] in ".?!" else ".") + " " + closing(rng)
        if rng.random() < 0.15:
            text += " " + closing(rng)
    return text
