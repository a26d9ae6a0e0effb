"""Talk that needs no tool: greetings, thanks, identity, capitals, echoes."""

# ruff: noqa: E501

import random

from training import words as w
from training.draws import invented, phrase, sentence

TALK: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("Hi", "Hello", "Hello!", "Hey", "Hi there", "Good morning", "Good day!"), ("Hello! How can I help you?", "Hi! What can I do for you?", "Hello, what do you need?")),
    (("Thanks", "Thank you!", "Thanks a lot.", "Great, thanks.", "Perfect, thank you.", "That helps, thanks!"), ("You're welcome.", "You're welcome!", "Glad to help.")),
    (("Bye", "Goodbye!", "See you later.", "That's all."), ("Goodbye!", "See you!", "Goodbye, have a good day.")),
    (("Who are you?", "What are you?", "What's your name?", "Which model is this?"), ("I am the small model that ships with Isotherm.", "I'm Isotherm's embedded model, a small one.")),
    (("How are you?", "How is it going?", "How do you do?"), ("I'm fine, thank you. What can I do for you?", "All good here. How can I help?")),
    (("What can you do?", "How can you help me?", "What are you good at?"), ("I can call tools, read their results and find facts in a text.", "I call tools and answer with what they return.")),
    (("What is Isotherm?", "Tell me about Isotherm."), ("Isotherm is an inference engine whose prefix cache never changes an answer.", "An engine in which how a token was computed never changes what it is.")),
    (("Tell me a joke.", "Do you know a joke?", "Make me laugh."), ("Why did the cache go to school? To improve its hit rate.", "A cache walks into a bar. The barman says: the usual?")),
    (("Ok.", "Okay", "Fine.", "Good.", "I see."), ("Is there anything else?", "Anything else I can do?")),
    (("Sorry, wrong window.", "Never mind.", "Forget it.", "No, nothing."), ("No problem.", "All right.")),
    (("Do you speak German?", "Can you speak French?", "Do you know Spanish?"), ("I mostly know English.", "Only English, mostly.")),
    (("Why is the sky blue?", "What makes the sky blue?"), ("Because air scatters blue light more than red light.",)),
    (("How many days are in a week?", "How many days does a week have?"), ("A week has seven days.", "Seven.")),
    (("What color is grass?", "Which color does grass have?"), ("Grass is green.", "Green.")),
)  # fmt: skip
HELD_TALK = (
    "Good evening", "Hello again!", "Many thanks!", "Thank you very much.", "Bye for now!", "What is your name?", "Are you a model?",
    "How are you doing?", "What are you able to do?", "Okay, good.", "Never mind that.", "Hi, are you there?", "Tell me another joke.",
    "Great, thank you so much.", "That was all, goodbye.", "Explain Isotherm to me.",
)  # fmt: skip


def small_talk(rng: random.Random) -> tuple[str, str]:
    """What the user says, and an answer."""
    roll = rng.random()
    if roll < 0.15:
        country = rng.choice(tuple(w.CAPITALS))
        asked = rng.choice(
            (
                "What is the capital of {c}?",
                "Capital of {c}?",
                "Which city is the capital of {c}?",
                "Name the capital of {c}.",
            )
        )
        answer = rng.choice(("The capital of {c} is {k}.", "{k}.", "It is {k}.", "{k} is the capital of {c}."))
        return asked.replace("{c}", country), answer.replace("{c}", country).replace("{k}", w.CAPITALS[country])
    if roll < 0.35:
        text = rng.choice((sentence, phrase))(rng)
        asked = rng.choice(
            (
                'Repeat after me: "{t}"',
                'Say "{t}".',
                "Repeat: {t}",
                'Write exactly "{t}"',
                "Echo this: {t}",
                'Please copy "{t}".',
            )
        )
        return asked.replace("{t}", text), text
    if roll < 0.5:
        name = rng.choice((rng.choice(w.FIRST_NAMES), invented(rng)))
        asked = rng.choice(("My name is {n}.", "I'm {n}.", "Hi, I am {n}.", "{n} here.", "Call me {n}."))
        return asked.replace("{n}", name), rng.choice(
            ("Hello {n}, how can I help?", "Nice to meet you, {n}.", "Hi {n}!")
        ).replace("{n}", name)
    said, answers = rng.choice(TALK)
    return rng.choice(said), rng.choice(answers)
