"""Words that stand for each other, so that a request and a schema may name the same thing differently."""

import random
import re


def _groups(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(word.strip() for word in line.split(",")) for line in text.strip().splitlines())


VERB_GROUPS = _groups(
    """
    get, fetch, show, find, look up, check, retrieve, read, see, pull up, bring up, view, display, query
    create, make, add, set up, open, start, build, prepare, draw up, raise, generate
    delete, remove, drop, get rid of, erase, clear, throw away, take off, wipe
    update, change, modify, edit, adjust, alter, revise, set, amend
    send, forward, deliver, pass on, mail, dispatch, transmit, post, shoot over
    start, launch, begin, run, turn on, switch on, activate, fire up, kick off
    stop, halt, end, shut down, turn off, switch off, deactivate, pause, quit
    restart, reboot, reset, bounce, power cycle, reload
    book, reserve, arrange, schedule, plan, organise, line up
    reschedule, move, postpone, shift, push back, delay
    cancel, call off, void, abort, revoke, drop
    buy, purchase, order, get, pick up, take, acquire
    pay, transfer, wire, settle, remit, send
    record, log, note, save, write down, put down, register, enter, track, jot down, remember
    search, look for, locate, hunt for, dig up, seek, browse, find
    convert, change, exchange, turn, express
    compute, calculate, work out, evaluate, figure out, estimate
    lock, bolt, secure, close, shut
    unlock, open, release
    block, ban, reject, refuse, mute
    assign, give, hand, allocate, delegate, entrust
    invite, ask, call in
    share, publish, post, circulate, spread
    compare, contrast, weigh
    translate, render, put, interpret
    play, put on, listen to, hear, spin, queue
    clean, vacuum, hoover, tidy, sweep, wash
    notify, inform, alert, warn, ping, remind, tell
    count, tally, number, add up
    compress, zip, pack, archive, shrink
    identify, recognise, name, detect
    suggest, recommend, propose, advise
    rate, review, grade, judge
    call, phone, ring, dial
    repair, fix, mend, service
    copy, duplicate, clone
    print, put on paper, print out
    upload, send up, put online, submit
    download, save, fetch, pull
    subscribe, sign up, enroll, join
    approve, accept, confirm, agree to
    reject, decline, deny, turn down
    measure, gauge, determine, assess
    explain, describe, define, outline
    summarise, sum up, condense
    track, follow, trace, watch, monitor
    lower, dim, reduce, decrease, turn down
    raise, increase, lift, boost, turn up
    rent, hire, lease, borrow
    return, send back, bring back, give back
    flag, mark, label, tag
    attach, append, add, include
    """
)
NOUN_GROUPS = _groups(
    """
    weather, conditions outside, climate, temperature outside
    forecast, outlook, weather prediction, prognosis
    air quality, pollution, smog level
    sunrise, sunset, daylight, dawn
    tide, water level, sea level
    event, appointment, meeting, calendar entry, session
    calendar, agenda, schedule, diary, timetable
    reminder, alert, notification, nudge, memo
    timer, countdown, alarm, stopwatch
    email, mail, electronic letter, inbox message
    text message, message, sms, chat message
    contact, address book entry, acquaintance, contact card
    money, cash, funds, payment
    bank account, account, balance, savings
    loan, credit, mortgage, debt
    stock, share, equity, share price
    invoice, bill, statement
    tax, duty, levy, fee
    order, purchase, online order
    package, parcel, shipment, delivery, box
    product, item, article, goods
    coupon, voucher, discount code, promo code
    review, rating, feedback, opinion
    flight, plane, plane ticket, air trip
    hotel, hotel room, bed, accommodation, place to stay
    route, directions, way, itinerary
    train, rail connection, train departure
    rental car, car, vehicle, automobile
    visa, entry permit, travel permit
    song, track, tune, piece of music
    playlist, mix, music list
    movie, film, motion picture
    news, headlines, articles, latest stories
    score, match result, game result
    light, lamp, bulb, lighting
    heating, thermostat, heater, room temperature
    door, gate, entrance
    blinds, curtains, shades, shutters
    vacuum, robot cleaner, cleaning robot
    sensor, gauge, meter, probe
    file, document, text file
    folder, directory, file folder
    archive, zip file, backup
    server, machine, host, instance
    ticket, issue, bug, support case
    database, data store, data table
    website, web page, site, page
    word, term, vocabulary entry
    meaning, definition, explanation
    average, mean, statistics
    workout, exercise, training, sports session
    body weight, weight, mass
    step count, steps, walking activity, movement
    sleep, rest, night's rest, hours slept
    medicine, medication, drug, pill, dose
    doctor's visit, doctor appointment, medical visit
    recipe, dish, cooking instructions
    groceries, food items, ingredients
    restaurant table, table, place to eat
    calories, nutrition, energy content, nutritional value
    wine, drink, bottle, beverage
    shopping list, grocery list, list of purchases
    snow, snow depth, ski conditions
    elevation, altitude, height, height above sea level
    employee, worker, colleague, staff member
    customer, client, buyer
    task, job, to-do, assignment, chore
    report, summary, overview
    survey, poll, questionnaire
    subscription, membership, plan
    password, passcode, login secret
    photo, picture, image, snapshot
    video, clip, recording
    battery, charge, power level
    traffic, road conditions, congestion
    parking spot, parking space, garage place
    taxi, cab, ride
    concert ticket, event ticket, admission
    gift, present, surprise
    vacancy, open position, job offer
    course, class, lesson
    grade, mark, exam result
    electricity, power, energy use
    internet connection, network, connection speed
    insurance, policy, cover
    complaint, objection, grievance
    refund, money back, reimbursement
    donation, contribution, charity gift
    library book, novel, loaned book
    sender, correspondent, mail address
    lyrics, words of a song, song text
    position, coordinates, spot on the map
    volume, loudness, sound level
    phone call, call, ring
    text, passage, piece of writing
    comment, remark, annotation
    quote, offer, price estimate
    branch, subsidiary, local office
    key, access card, entry code
    """
)
_MEANINGS: dict[str, tuple[str, ...]] = {}
for _group in (*VERB_GROUPS, *NOUN_GROUPS):
    for _word in _group:
        _MEANINGS.setdefault(_word, _group)
_SINGLE = re.compile(
    r"(?<![\w{])(" + "|".join(sorted((re.escape(w) for w in _MEANINGS), key=len, reverse=True)) + r")(?![\w}])",
    re.IGNORECASE,
)


def same_meaning(word: str) -> tuple[str, ...]:
    """The words of its group."""
    return _MEANINGS.get(word, ())


def reword(rng: random.Random, template: str, share: float) -> str:
    """The template with a share of its words replaced by others of their group; slots stay."""

    def other(match: re.Match[str]) -> str:
        if rng.random() > share:
            return match[0]
        chosen = rng.choice(_MEANINGS[match[0].lower()])
        return chosen[0].upper() + chosen[1:] if match[0][0].isupper() else chosen

    return _SINGLE.sub(other, template)


def disturb(rng: random.Random, template: str, words: tuple[str, ...]) -> str:
    """The template with one to three of its words lost, replaced or joined by words that mean nothing here; slots stay."""
    parts = template.split(" ")
    for _ in range(rng.choice((1, 1, 2, 3))):
        free = [i for i, part in enumerate(parts) if "{" not in part and part.strip(".?!,;:")]
        roll = rng.random()
        if roll < 0.3 and len(free) > 1:
            del parts[rng.choice(free)]
        elif roll < 0.7 and free:
            at = rng.choice(free)
            tail = parts[at][len(parts[at].rstrip(".?!,;:")) :]
            parts[at] = rng.choice(words) + tail
        else:
            parts.insert(rng.randint(0, len(parts) - 1), rng.choice(words))
    return " ".join(parts)
