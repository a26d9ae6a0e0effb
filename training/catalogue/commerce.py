"""Shops and orders."""

# ruff: noqa: E501

from training.tool import tool

TOOLS = (
    tool(
        "search_products",
        "Search the shop for products.",
        "query:product; max_price:amount?(under {v}); color:color?(in {v})",
        "search for a product",
        """Find me a {query}. | Search the shop for {query}. | Do you sell {query}? | I'm looking for a {query}. | Show me {query} in the shop.""",
        "Got any {query} in store? | I want to buy a {query}, what do you have?",
        "name:phrase; price:amount; stock:count",
        """I found "{name}" for {price}, with {stock} in stock. | There is "{name}" at {price}; {stock} are left. | "{name}" costs {price} and {stock} are available.""",
    ),
    tool(
        "get_order_status",
        "Get the status of an order.",
        "order_id:id",
        "track an order",
        """Where is my order {order_id}? | What's the status of order {order_id}? | Track order {order_id}. | Has {order_id} shipped? |
        Check on order {order_id}.""",
        "How far along is order {order_id}? | Any news about my order {order_id}?",
        "order_id=order_id; status:status; arrives:date",
        "Order {order_id} is {status} and arrives on {arrives}. | Your order {order_id} is {status}; expect it on {arrives}. | The status of {order_id} is {status}, delivery on {arrives}.",
    ),
    tool(
        "place_order",
        "Order a product.",
        "product:product; quantity:small; size:size?(in size {v}); address:address?(to {v})",
        "order a product",
        """Order {quantity} {product}. | Buy {quantity} of the {product}. | I'd like to order {quantity} {product}. | Get me {quantity} {product}. |
        Please place an order for {quantity} {product}.""",
        "I'll take {quantity} {product}, please order. | Purchase {quantity} {product} for me.",
        "order_id:id; total:amount; product=product",
        "Your order {order_id} for {product} comes to {total}. | I ordered the {product}: order {order_id}, total {total}. | Done, {order_id} is placed. The total is {total}.",
    ),
    tool(
        "cancel_order",
        "Cancel an order that has not shipped.",
        "order_id:id; reason:sentence?(because {v})",
        "cancel an order",
        """Cancel order {order_id}. | Please cancel my order {order_id}. | I don't want order {order_id} any more. | Stop order {order_id}. |
        Call off order {order_id}.""",
        "I changed my mind about order {order_id}, cancel it. | Void order {order_id}.",
        "order_id=order_id; refund:amount",
        "Order {order_id} is cancelled and {refund} will be refunded. | I cancelled {order_id}; you get {refund} back. | Cancelled: {order_id}. Refund: {refund}.",
    ),
    tool(
        "apply_coupon",
        "Apply a coupon code to the cart.",
        "code:id",
        "apply a coupon",
        """Apply coupon {code}. | Use the code {code} on my cart. | I have a coupon, {code}. | Redeem {code}. | Add the discount code {code}.""",
        "My voucher is {code}, please use it. | Take {code} off my cart total.",
        "code=code; discount:percent; total:amount",
        "Coupon {code} gives {discount} percent off; the total is {total}. | With {code} you save {discount} percent and pay {total}. | {code} was applied: {discount} percent, total {total}.",
    ),
    tool(
        "write_review",
        "Post a product review.",
        "product:product; stars:small; text:sentence",
        "post a review",
        """Review the {product} with {stars} stars: {text}. | Give {product} {stars} stars and write {text}. | Post a {stars} star review of {product} saying {text}.""",
        "I rate the {product} {stars} stars; comment {text}. | Leave feedback on {product}: {stars} stars, {text}.",
        "review_id:id; product=product",
        "Your review of {product} is posted as {review_id}. | Thanks, review {review_id} for {product} is online. | I posted the review {review_id} of {product}.",
    ),
)
