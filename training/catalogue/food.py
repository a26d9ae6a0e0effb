"""Cooking and restaurants."""

# ruff: noqa: E501

from training.tool import tool

TOOLS = (
    tool(
        "find_recipe",
        "Find a recipe that uses some ingredients.",
        "ingredients:ingredients; diet:word?(that is {v}); max_minutes:minutes?(in under {v} minutes)",
        "find a recipe",
        """Find a recipe with {ingredients}. | What can I cook with {ingredients}? | I have {ingredients}, what should I make? | Recipe using {ingredients}, please. |
        Suggest something to cook from {ingredients}.""",
        "My fridge has {ingredients}; any recipe? | Which dish uses {ingredients}?",
        "dish:dish; minutes:minutes; rating:percent",
        "You could make {dish} in {minutes} minutes (rated {rating}). | How about {dish}? It takes {minutes} minutes and is rated {rating}. | {dish}, {minutes} minutes, rating {rating}.",
    ),
    tool(
        "get_recipe",
        "Get the recipe of a dish.",
        "dish:dish; servings:small?(for {v} people)",
        "get a recipe",
        """How do I make {dish}? | Give me the recipe for {dish}. | Recipe for {dish}, please. | I want to cook {dish}. | Show me how to prepare {dish}.""",
        "Teach me to cook {dish}. | What goes into {dish}?",
        "dish=dish; minutes:minutes; main_ingredient:word",
        "{dish} takes {minutes} minutes; the main ingredient is {main_ingredient}. | For {dish} you need {main_ingredient} and {minutes} minutes. | Cook {dish} with {main_ingredient} in {minutes} minutes.",
    ),
    tool(
        "reserve_table",
        "Reserve a table at a restaurant.",
        "restaurant:place; people:small; date:date; time:time",
        "reserve a table",
        """Reserve a table at {restaurant} for {people} on {date} at {time}. | Table for {people} at {restaurant}, {date}, {time}. |
        Book {restaurant} for {people} people on {date} at {time}. | I'd like a table for {people} at {restaurant} on {date} at {time}.""",
        "We are {people} and want to eat at {restaurant} on {date} at {time}. | Get us a table at {restaurant}: {people} people, {date}, {time}.",
        "reservation_id:id; restaurant=restaurant; time=time; people=people",
        "Your table at {restaurant} for {people} is reserved at {time} ({reservation_id}). | Reservation {reservation_id}: {restaurant}, {people} people, {time}. | I booked {restaurant} for {people} at {time}.",
    ),
    tool(
        "add_to_shopping_list",
        "Add an item to the shopping list.",
        "item:product; quantity:small?(with quantity {v})",
        "add to the shopping list",
        """Add {item} to my shopping list. | Put {item} on the shopping list. | I need to buy {item}, add it to the list. | Shopping list: {item}. | Note {item} for shopping.""",
        "We're out of {item}, put it on the list. | Please write {item} on the shopping list.",
        "item=item; items:count",
        "{item} is on the list, which now has {items} items. | I added {item}; there are {items} items. | The shopping list has {items} items, {item} included.",
    ),
    tool(
        "get_nutrition",
        "Get the calories of a food.",
        "food:dish; grams:count?(for {v} grams)",
        "look up nutrition",
        """How many calories are in {food}? | Calories in {food}? | Nutrition of {food}, please. | Is {food} healthy? Show the calories. | Look up the calories of {food}.""",
        "What is the calorie count of {food}? | Energy content of {food}?",
        "food=food; calories:count; protein_grams:small",
        "{food} has {calories} calories and {protein_grams} grams of protein. | There are {calories} calories and {protein_grams} grams of protein in {food}. | {food}: {calories} calories, {protein_grams} g protein.",
    ),
    tool(
        "order_food",
        "Order food for delivery.",
        "dish:dish; quantity:small; address:address; note:sentence?(with the note {v})",
        "order food",
        """Order {quantity} {dish} to {address}. | Deliver {quantity} {dish} to {address}. | I want {quantity} {dish} delivered to {address}. |
        Get {quantity} portions of {dish} to {address}.""",
        "Send {quantity} {dish} to {address}, please. | We're hungry: {quantity} {dish} to {address}.",
        "order_id:id; minutes:minutes; total:amount",
        "Order {order_id} arrives in {minutes} minutes and costs {total}. | Your food comes in {minutes} minutes; the total is {total}. | Ordered: {order_id}, {total}, {minutes} minutes.",
    ),
)
