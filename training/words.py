"""Word lists. Everything that the data generator says is put together from these, so all of it is our own."""

# ruff: noqa: E501


def _split(text: str, separator: str | None = None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(separator) if part.strip())


CITIES = _split(
    """Paris,London,Berlin,Madrid,Rome,Vienna,Prague,Oslo,Stockholm,Helsinki,Copenhagen,Dublin,Lisbon,Athens,Warsaw,Budapest,
    Brussels,Amsterdam,Zurich,Geneva,Munich,Hamburg,Cologne,Lyon,Nice,Milan,Naples,Turin,Venice,Florence,Barcelona,Seville,
    Valencia,Porto,Krakow,Gdansk,Riga,Tallinn,Vilnius,Reykjavik,Edinburgh,Glasgow,Cardiff,Belfast,Leeds,Bristol,Moscow,Kyiv,
    Istanbul,Ankara,Cairo,Casablanca,Tunis,Lagos,Accra,Nairobi,Kampala,Cape Town,Durban,Dakar,Addis Ababa,Tehran,Baghdad,
    Dubai,Doha,Riyadh,Muscat,Karachi,Lahore,Delhi,Mumbai,Chennai,Kolkata,Dhaka,Colombo,Bangkok,Hanoi,Manila,Jakarta,Singapore,
    Kuala Lumpur,Hong Kong,Taipei,Shanghai,Beijing,Shenzhen,Seoul,Busan,Tokyo,Osaka,Kyoto,Sapporo,Nagoya,Sydney,Melbourne,
    Brisbane,Perth,Adelaide,Hobart,Auckland,Wellington,New York,Boston,Chicago,Denver,Seattle,Portland,Austin,Dallas,Houston,
    Miami,Atlanta,Phoenix,Detroit,San Diego,Los Angeles,San Francisco,Las Vegas,Salt Lake City,Toronto,Montréal,Vancouver,
    Ottawa,Calgary,Halifax,Mexico City,Havana,Bogotá,Quito,Lima,La Paz,Santiago,Buenos Aires,Montevideo,São Paulo,Brasília,
    Rio de Janeiro,Málaga,Düsseldorf,Zürich,Kraków,Łódź,Tromsø,Århus,Göteborg,Besançon,Yakutsk,Anchorage,Fairbanks,Ulaanbaatar,
    Astana,Tashkent,Tbilisi,Yerevan,Baku,Sofia,Bucharest,Belgrade,Zagreb,Ljubljana,Sarajevo,Skopje,Tirana,Valletta,Nicosia""",
    ",",
)
COUNTRIES = _split(
    """France,Spain,Italy,Germany,Austria,Norway,Sweden,Finland,Denmark,Ireland,Portugal,Greece,Poland,Hungary,Belgium,Japan,
    China,India,Brazil,Chile,Peru,Mexico,Canada,Kenya,Ghana,Egypt,Morocco,Turkey,Vietnam,Thailand,Australia,New Zealand,
    Iceland,Switzerland,Croatia,Estonia,Latvia,Lithuania,South Korea,Argentina""",
    ",",
)
CAPITALS = {
    "France": "Paris", "Spain": "Madrid", "Italy": "Rome", "Germany": "Berlin", "Austria": "Vienna", "Norway": "Oslo",
    "Sweden": "Stockholm", "Finland": "Helsinki", "Denmark": "Copenhagen", "Ireland": "Dublin", "Portugal": "Lisbon",
    "Greece": "Athens", "Poland": "Warsaw", "Hungary": "Budapest", "Belgium": "Brussels", "Japan": "Tokyo", "China": "Beijing",
    "India": "Delhi", "Chile": "Santiago", "Peru": "Lima", "Canada": "Ottawa", "Kenya": "Nairobi", "Ghana": "Accra",
    "Egypt": "Cairo", "Vietnam": "Hanoi", "Thailand": "Bangkok", "Iceland": "Reykjavik", "Croatia": "Zagreb",
}  # fmt: skip
FIRST_NAMES = _split(
    """Anna Ben Clara David Elena Felix Grace Hugo Ines Jonas Karin Leo Maria Noah Olga Paul Quinn Rosa Samuel Tara Umar Vera
    Walter Xenia Yusuf Zoe Aisha Bruno Chloe Dmitri Emma Farid Gita Henry Iris Jack Kofi Lena Marco Nadia Oscar Priya Rafael
    Sofia Tomás Ursula Victor Wanda Yara Zara Amir Bianca Carlos Diana Erik Fatima Goran Hana Ivan Julia Kai Lucía Mateo Nina
    Omar Petra Ravi Sven Thea Viktor José Zoë Renée Björn Søren Anaïs Mei Hiro Kenji Aiko Chen Lin Tariq Leila Moses Abena"""
)
LAST_NAMES = _split(
    """Adler Baker Costa Dahl Evans Fischer Garcia Hansen Ito Jensen Kowalski Lopez Meyer Novak Okafor Petrov Quist Rossi Silva
    Tanaka Ueda Varga Weber Xu Young Ziegler Ahmed Bauer Chen Duarte Eriksen Ferrari Grant Huber Iqbal Jones Klein Larsen
    Müller Nilsen O'Brien Park Reyes Schmidt Torres Ustinov Vogel Walsh Yilmaz Zhang Núñez Brandt Osei Mensah Sato Nakamura
    Patel Rao Kaur Haddad Nasser Cohen Levi Friedman Smith Taylor Brown Wilson Moore Clark Hall Wright Green Hill"""
)
NOUNS = _split(
    """account address agenda alarm album anchor apple archive article asset badge bag balance banner barrel basket battery beacon
    bean bench bicycle bill blanket board boat bolt book border bottle box branch bread bridge brush bucket budget building bus
    button cabin cable cake camera candle canvas card cargo carpet carrier castle cellar chain chair channel chapter chart cherry
    circle client clock cloud coat code coffee coin column comet compass contract copper corner cotton council counter course
    crate cream creek crystal cup curtain cushion customer dashboard deck delivery desk device diagram dish dock document door
    draft drawer drum edge elevator engine entry envelope event exhibit fabric factory falcon farm feather fence ferry field file
    filter flag flame flask flight floor flower folder forest fork fountain frame freight fruit funnel furnace garage garden gate
    glacier glass globe glove goal grain grant granite graph grid group guest guide hall hammer handle harbor harvest hat helmet
    hill hinge holiday honey hook hotel house image index ink invoice iron island item jacket jar job journal journey juice
    kettle key kitchen kite label ladder lake lamp lantern laser lawn leaf lease leather ledger lemon lens letter level lever
    library license light lighthouse lime line linen link list loan lobby lock log lotus lunch machine magnet mail manual map
    marble market mask meadow medal meeting member menu message metal meter mill mineral mirror module monitor moon motor
    mountain museum napkin needle nest network nickel note notebook novel number oak oar office olive onion orbit orchard order
    organ oven owner package paddle page paint palace panel paper parcel park passage passport patch path patient payment pearl
    pen pencil pepper permit phone photo piano picture pillow pilot pine pipe plan planet plant plate platform plaza pocket
    podcast poem policy pond pool port poster potato pottery powder printer prize profile program project pump quarry quarter
    queue quilt rabbit radar radio raft rail rain ramp range raven receipt recipe record reef region report reservation resort
    ribbon rice ring river road robot rocket roof room rope rose route ruby rug saddle sail salad salt sample sand saucer scale
    scarf schedule school screen seal season seat section seed sensor server service session shaft sheet shelf shell shield ship
    shirt shoe shop shuttle signal silk silver site sketch sleeve slide snow soap sock sofa soil soup spice spoon spring square
    stable stadium stage stair stamp star station statue steel stem stone storage store storm story stove straw stream street
    studio suitcase summit supplier survey switch table tag tank target task team temple tent terminal test theater thread ticket
    tide tile timber token tool torch tower toy track trade trail train transfer tray treasure tree trip truck tunnel turbine
    umbrella unit user valley value valve vase vault vehicle vendor vessel video village villa vine violin visit voucher wagon
    wall wallet warehouse watch water wave well whale wheel willow window wing winter wire wolf wood wool workshop yard year zone"""
)
ADJECTIVES = _split(
    """amber ancient annual big black blue bold brass brave brief bright broad bronze calm central clean clear clever cold cool
    copper coral crimson daily dark deep dense direct double dry early eastern easy empty exact extra fair fast final fine first
    flat fresh full general gentle giant global gold golden good grand gray green half happy hard heavy hidden high hollow honest
    huge icy inner ivory jade joint kind large last late lazy left light little local lone long loud low lucky main major mild
    minor modern monthly narrow neat new next nimble noble northern old olive open orange outer pale past perfect pink plain
    polite prime proud public pure purple quick quiet rapid rare raw ready red regional rich right rough round royal rustic safe
    scarlet second secret shared sharp shiny short silent silver simple single slow small smart smooth soft solid southern spare
    special square stable steady still strong sunny super sweet swift tall tender thin third tidy tiny total tough true upper
    urgent vivid warm weekly western white whole wide wild wise wooden yellow young"""
)
VERBS = _split(
    """add adjust apply approve archive arrange assign book build calculate call cancel change check clear close compare compute
    confirm convert copy count create delete describe display download draft edit enable estimate export extend fetch fill filter
    find fix forward generate get grant import inspect install invite issue join launch list load locate lock log look make map
    mark measure merge modify monitor move open order pause pick plan play post print process publish pull purchase query queue
    rate read record refresh register release remove rename renew repair replace report request reserve reset resize restart
    restore resume retrieve return review revoke rotate run save scan schedule search select send set share show sign sort start
    stop submit subscribe suspend sync tag test toggle track transfer translate trigger turn unlock update upload validate verify
    view visit watch withdraw write"""
)
SYLLABLES = _split(
    """ba be bi bo bra bri ca ce cor da de dor dra el en er fa fen fi fo ga gan ge gor ha hel hin ir is ja jo ka kel kin ko kra la
    len li lo lun ma mel mi mo mor na nel ni no nu ol or os pa pel pi po qua ra rel ri ro ru sa sel shi so sta su ta tel ti to tra
    tu ul um va vel vi vo wa wen wi xa ya yo za zel zi zo thal ven dris mont burg wick ford ton ley mere dale"""
)
EMOJI = _split("😀 🎉 🚀 ❤️ 👍 ☕ 🌧️ ⭐ 🔥 🐢 🍕 🎶 📦 ✅ ⚠️ 🌍 🥐 🏔️ 🧪 👋")
FOREIGN = _split(
    """déjà vu|über alles gut|naïve café|¿Qué tal?|señor Ñandú|日本語|你好世界|привет мир|καλημέρα|مرحبا|안녕하세요|smørrebrød|crème brûlée|
    façade|jalapeño|Ærø|łódka|żółw|façon de parler|東京駅|早安|спасибо|ευχαριστώ|šťastný|gülümse""",
    "|",
)
WEEKDAYS = _split("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
MONTHS = _split("January February March April May June July August September October November December")
CURRENCIES = _split("USD EUR GBP JPY CHF SEK NOK DKK PLN CZK HUF CAD AUD NZD CNY INR BRL MXN ZAR SGD HKD KRW TRY THB")
LANGUAGES = _split(
    "English French German Spanish Italian Portuguese Dutch Swedish Norwegian Danish Finnish Polish Czech Greek Turkish Arabic "
    "Hebrew Hindi Japanese Korean Chinese Vietnamese Thai Swahili Latin Welsh Irish Ukrainian"
)
GENRES = _split("jazz rock pop folk blues soul classical techno house reggae metal opera ambient country disco")
DISHES = _split(
    """lentil soup,pancakes,mushroom risotto,chicken curry,tomato salad,apple pie,banana bread,fish tacos,vegetable lasagna,ramen,
    pad thai,beef stew,onion tart,potato gratin,carrot cake,falafel,paella,goulash,minestrone,shakshuka,dumplings,quiche""",
    ",",
)
INGREDIENTS = _split(
    "rice beans tomatoes onions garlic carrots potatoes spinach mushrooms eggs milk butter cheese chicken beef tofu lentils pasta "
    "flour sugar lemons basil ginger peppers salmon shrimp oats yogurt apples honey"
)
EXERCISES = _split(
    "running cycling swimming rowing walking hiking yoga squats push-ups pilates boxing dancing skiing climbing"
)
ROOMS = _split(
    "kitchen,living room,bedroom,bathroom,hallway,office,garage,attic,basement,guest room,nursery,dining room", ","
)
WEATHER = _split(
    "clear sky,sunny,cloudy,partly cloudy,light rain,heavy rain,drizzle,snow,light snow,fog,thunderstorms,windy,hail,overcast,mist",
    ",",
)
COLORS = _split("red green blue yellow white orange purple pink teal amber violet turquoise")
PRODUCTS = _split(
    """desk lamp,running shoes,coffee grinder,water bottle,wireless mouse,yoga mat,office chair,rain jacket,travel mug,phone case,
    backpack,headphones,notebook,mechanical keyboard,camping tent,bicycle helmet,kitchen scale,wool blanket,alarm clock,tea kettle,
    sunglasses,umbrella,board game,standing desk,electric toothbrush,leather wallet,garden hose,picture frame""",
    ",",
)
UNITS = {
    "length": _split("meters feet kilometers miles inches centimeters yards"),
    "mass": _split("grams kilograms pounds ounces stones"),
    "volume": _split("liters gallons milliliters cups pints"),
}
TIMEZONES = _split(
    "UTC Europe/Paris Europe/London America/New_York Asia/Tokyo Asia/Kolkata Australia/Sydney Africa/Nairobi"
)
TICKERS = _split("AAPL MSFT GOOG AMZN TSLA NVDA META IBM ORCL INTC AMD NFLX SAP SHEL NESN TM SONY BABA")
TEAMS = _split(
    "Falcons,Tigers,Harbor United,Red Lions,Northern Stars,River City,Bluebirds,Wolves,Old Mill FC,Comets", ","
)
TOPICS = _split(
    """climate,football,space,elections,music,health,technology,energy,education,travel,food,art,cinema,science,economy,transport,
    housing,wildlife,robots,oceans,archaeology,chess,cycling,volcanoes,astronomy""",
    ",",
)
