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
REFUSALS = (
    "I can't do that with the tools I have.", "None of my tools can do that.", "Sorry, I have no tool for that.", "I don't have a tool for that.",
)  # fmt: skip
MARKS = (".", "!", "", "?", "...")
SOUNDS = (
    "Ah", "Oh", "Hm", "Wow", "Nice", "Cool", "Great", "Super", "Lovely", "Perfect", "Alright", "All right", "Got it", "Understood", "Sure",
    "Very good", "Interesting", "Noted", "Yes", "No", "Well", "Right then", "Fair enough", "Excellent", "Wonderful", "Indeed", "True", "Okay then",
    "That's fine", "That's good", "That was quick", "That was helpful", "It worked", "You're great", "Well done", "Good job", "I'm happy",
)  # fmt: skip
ENDS = (
    "that is all", "I'm done", "that will do", "nothing more", "talk to you later", "see you tomorrow", "until next time", "have a nice day", "take care",
    "leave it", "stop there", "don't bother", "it doesn't matter", "I changed my mind", "forget what I said", "let it be", "I was only asking",
)  # fmt: skip
THANKS = (
    "thanks", "thank you", "thanks a bunch", "I'm grateful", "thank you so very much", "thanks for your help", "that helped a lot", "thx", "ta", "merci",
    "thank you kindly", "thanks again", "you helped me a lot", "I appreciate it", "thanks for that",
)  # fmt: skip
GREETINGS = (
    "hi", "hello", "hey", "good day", "good afternoon", "morning", "greetings", "hi again", "hey there", "hello computer", "hi assistant", "are you awake",
    "anybody there", "can you hear me", "I'm back", "is this thing on", "hello my friend", "nice to meet you", "how do you feel today", "what's up",
)  # fmt: skip
ABOUT = (
    "who made you", "what kind of program are you", "are you a robot", "are you human", "do you have a name", "how should I call you", "which model are you",
    "how big are you", "introduce yourself", "tell me about yourself", "are you clever", "what are your skills", "what do you do", "how can you be of use",
)  # fmt: skip
PHATIC = (
    (GREETINGS, ("Hello! How can I help you?", "Hi! What can I do for you?", "Hello, what do you need?")),
    (THANKS, ("You're welcome.", "You're welcome!", "Glad to help.")),
    (ENDS, ("All right.", "No problem.", "Goodbye!")),
    (ABOUT, ("I am the small model that ships with Isotherm.", "I'm Isotherm's embedded model, a small one.")),
    (SOUNDS, ("Is there anything else?", "Anything else I can do?")),
)  # fmt: skip


def phatic(rng: random.Random) -> tuple[str, str]:
    """One or two short remarks put together, none of them held out, and an answer to the last."""
    while True:
        said, answers = rng.choice(PHATIC)
        text = rng.choice(said)
        if rng.random() < 0.45:
            text = rng.choice((*SOUNDS, *THANKS, *GREETINGS[:6])) + rng.choice((", ", ". ", "! ")) + text
        if rng.random() < 0.15:
            text += ", " + rng.choice(w.FIRST_NAMES)
        text = (text[0].upper() + text[1:] if rng.random() < 0.8 else text) + rng.choice(
            MARKS[:2] if said is not ABOUT else MARKS[2:4]
        )
        if text.strip(".!?").lower() not in {held.strip(".!?").lower() for held in HELD_TALK}:
            return text, rng.choice(answers)


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
    if roll < 0.72:
        return phatic(rng)
    said, answers = rng.choice(TALK)
    return rng.choice(said), rng.choice(answers)
