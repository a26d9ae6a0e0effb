"""Search, language and arithmetic."""

# ruff: noqa: E501

from training.tool import tool

TOOLS = (
    tool(
        "web_search",
        "Search the web.",
        "query:query; limit:small?(with {v} results)",
        "search the web",
        """Search the web for {query}. | Look up {query} online. | Google {query}. | Find information about {query}. | What does the internet say about {query}?""",
        "Do a web search on {query}. | See what you can find online on {query}.",
        "title:phrase; url:url",
        """The top result is "{title}" at {url}. | I found "{title}": {url} | "{title}" ({url}) is the first result.""",
    ),
    tool(
        "fetch_page",
        "Fetch a web page and return its title and text.",
        "url:url; format:format?(as {v})",
        "fetch a web page",
        """Open {url}. | What's on {url}? | Fetch {url}. | Read the page {url}. | Get the contents of {url}.""",
        "Take a look at {url} for me. | Summarise the page at {url}.",
        "title:phrase; text:sentence",
        """The page "{title}" says: "{text}" | "{title}": {text} | It is titled "{title}" and says "{text}".""",
    ),
    tool(
        "translate_text",
        "Translate a text into another language.",
        "text:sentence; target_language:language; formal:boolean?(in a formal tone)",
        "translate a text",
        """Translate {text} into {target_language}. | How do you say {text} in {target_language}? | What is {text} in {target_language}? |
        Put {text} into {target_language}. | I need {text} in {target_language}.""",
        "Give me the {target_language} for {text}. | Render {text} in {target_language}, please.",
        "translation:sentence; language=target_language",
        """In {language} it is "{translation}". | "{translation}" is the {language} translation. | The {language} for that is "{translation}".""",
    ),
    tool(
        "calculate",
        "Evaluate an arithmetic expression.",
        "expression:expression",
        "calculate something",
        """What is {expression}? | Calculate {expression}. | Compute {expression}. | How much is {expression}? | Work out {expression} for me.""",
        "Evaluate {expression}. | I need the result of {expression}.",
        "result:decimal",
        "The result is {result}. | It is {result}. | That makes {result}. | The answer is {result}.",
    ),
    tool(
        "convert_units",
        "Convert a length between units.",
        "value:decimal; from_unit:length_unit; to_unit:length_unit",
        "convert units",
        """Convert {value} {from_unit} to {to_unit}. | How many {to_unit} are {value} {from_unit}? | What is {value} {from_unit} in {to_unit}? |
        {value} {from_unit} in {to_unit}, please. | Change {value} {from_unit} to {to_unit}.""",
        "Express {value} {from_unit} as {to_unit}. | I measured {value} {from_unit}, what is that in {to_unit}?",
        "value=value; result:decimal; from=from_unit; to=to_unit",
        "{value} {from} is {result} {to}. | That is {result} {to}. | {value} {from} equals {result} {to}.",
    ),
    tool(
        "define_word",
        "Look up the definition of a word.",
        "word:word; language:language?(in {v})",
        "define a word",
        """What does {word} mean? | Define {word}. | Look up the meaning of {word}. | What is the definition of {word}? | Dictionary entry for {word}?""",
        "Explain the word {word}. | Tell me what {word} stands for.",
        "word=word; definition:phrase",
        """{word} means "{definition}". | The definition of {word} is "{definition}". | "{definition}" is what {word} means.""",
    ),
    tool(
        "summarize_numbers",
        "Compute the mean, smallest and largest of a list of numbers.",
        "numbers:numbers",
        "summarise numbers",
        """What's the mean of {numbers}? | Average {numbers}. | Give me statistics for {numbers}. | Summarise the numbers {numbers}. | Find the mean of {numbers}.""",
        "Take {numbers} and tell me the average. | Statistics on {numbers}, please.",
        "mean:decimal; min:decimal; max:decimal",
        "The mean is {mean}, the smallest {min} and the largest {max}. | Mean {mean}, from {min} to {max}. | They average {mean}, with a minimum of {min} and a maximum of {max}.",
    ),
)
