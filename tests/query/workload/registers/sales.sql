-- A shop's orders and customers, from dashboards and models.

-- name: revenue by month
-- reads: orders
-- expect: answered
SELECT date_trunc('month', ordered_at) AS month, sum(amount) AS revenue, count(*) AS orders FROM orders GROUP BY 1 ORDER BY 1;

-- name: revenue by month as dates
-- reads: orders
-- expect: answered
SELECT date_trunc('month', ordered_at)::date AS month, sum(amount) AS revenue FROM orders GROUP BY 1 ORDER BY 1;

-- name: revenue by month as text
-- reads: orders
-- expect: answered
SELECT to_char(date_trunc('month', o.ordered_at), 'YYYY-MM') AS "orders.month", COALESCE(SUM(o.amount), 0) AS "orders.total"
FROM public.orders AS o GROUP BY 1 ORDER BY 1 DESC LIMIT 500;

-- name: mean order value
-- reads: orders
-- expect: answered
SELECT channel, avg(amount) AS aov, sum(amount) / count(DISTINCT customer_id) AS per_customer FROM orders WHERE status <> 'cancelled' GROUP BY channel;

-- name: orders per customer
-- reads: orders
-- expect: answered
SELECT count(*)::float8 / count(DISTINCT customer_id) AS orders_per_customer FROM orders;

-- name: mean price of an item
-- reads: orders
-- expect: answered
SELECT channel, avg(amount / items) AS per_item FROM orders GROUP BY channel;

-- name: mean price of an item, guarded
-- reads: orders
-- expect: answered
SELECT channel, avg(amount / nullif(items, 0)) AS per_item FROM orders GROUP BY channel;

-- name: mean price of an item of the channel
-- reads: orders
-- expect: answered
SELECT channel, sum(amount) / sum(items) AS per_item FROM orders GROUP BY channel;

-- name: delivery time
-- reads: orders
-- expect: answered
SELECT channel, avg(shipped_at - ordered_at) AS delivery FROM orders WHERE shipped_at IS NOT NULL GROUP BY channel;

-- name: delivery time in hours
-- reads: orders
-- expect: answered
SELECT store, avg(extract(epoch from (shipped_at - ordered_at)) / 3600) AS hours FROM orders GROUP BY store ORDER BY hours DESC LIMIT 5;

-- name: delivery time in days
-- reads: orders
-- expect: answered
SELECT store, avg(shipped_at::date - ordered_at::date) AS days FROM orders GROUP BY store;

-- name: delivery time by date_part
-- reads: orders
-- expect: answered
SELECT channel, AVG(DATE_PART('day', shipped_at - ordered_at)) AS days FROM orders GROUP BY channel;

-- name: late deliveries
-- reads: orders
-- expect: answered
SELECT channel, 100.0 * count(*) FILTER (WHERE shipped_at - ordered_at > interval '3 days') / count(*) AS late FROM orders GROUP BY channel;

-- name: median delivery time
-- reads: orders
-- expect: answered
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch from shipped_at - ordered_at) / 3600) AS hours FROM orders WHERE shipped_at IS NOT NULL;

-- name: revenue per square metre
-- reads: orders
-- expect: answered
SELECT s.city, sum(o.amount) / max(s.sqm) AS per_sqm FROM orders o JOIN stores s ON s.store = o.store GROUP BY s.city ORDER BY per_sqm DESC;

-- name: every store with its orders
-- reads: orders
-- expect: answered
SELECT s.store, s.city, count(o.order_id) AS orders, coalesce(sum(o.amount), 0) AS revenue FROM stores s LEFT JOIN orders o ON o.store = s.store GROUP BY s.store, s.city ORDER BY revenue DESC;

-- name: every product with its sales
-- reads: orders
-- expect: answered
SELECT p.product, p.category, count(o.order_id) AS sold FROM products p LEFT JOIN orders o USING (product) GROUP BY p.product, p.category;

-- name: return rate by category
-- reads: orders
-- expect: answered
SELECT p.category, avg(o.returned::int) AS return_rate FROM orders o JOIN products p ON p.product = o.product GROUP BY p.category;

-- name: return rate by CASE
-- reads: orders
-- expect: answered
SELECT p.category, SUM(CASE WHEN o.returned THEN 1 ELSE 0 END)::float / NULLIF(COUNT(*), 0) AS return_rate
FROM orders o JOIN products p ON p.product = o.product GROUP BY p.category ORDER BY return_rate DESC;

-- name: list price against amount
-- reads: orders
-- expect: answered
SELECT p.category, sum(o.amount) / sum(o.items * p.price) AS realised FROM orders o JOIN products p ON p.product = o.product GROUP BY p.category;

-- name: discount rate
-- reads: orders
-- expect: answered
SELECT channel, sum(coalesce(discount, 0)) / sum(amount) AS discount_rate, count(discount) AS discounted FROM orders GROUP BY channel;

-- name: discount rate of each order
-- reads: orders
-- expect: may be refused: each person would be weighed by a number of their own
SELECT channel, avg(discount / nullif(amount, 0)) AS mean_rate FROM orders WHERE discount IS NOT NULL GROUP BY channel;

-- name: net revenue
-- reads: orders
-- expect: answered
SELECT store, sum(amount - coalesce(discount, 0)) AS net FROM orders WHERE status IN ('paid', 'shipped') GROUP BY store;

-- name: dear orders
-- reads: orders
-- expect: answered
SELECT channel, count(*) FROM orders WHERE amount > (SELECT avg(amount) * 1.5 FROM orders) GROUP BY channel;

-- name: stores above the mean
-- reads: orders
-- expect: answered
SELECT store, sum(amount) AS revenue FROM orders GROUP BY store HAVING avg(amount) > (SELECT avg(amount) FROM orders) ORDER BY revenue DESC;

-- name: stores above the mean of stores
-- reads: orders
-- expect: answered
WITH revenue AS (SELECT store, sum(amount) AS total FROM orders GROUP BY store)
SELECT store, total FROM revenue WHERE total > (SELECT avg(total) FROM revenue) ORDER BY total DESC;

-- name: share of revenue
-- reads: orders
-- expect: answered
SELECT channel, sum(amount) / (SELECT sum(amount) FROM orders) AS share FROM orders GROUP BY channel;

-- name: share of revenue with a window
-- reads: orders
-- expect: answered
SELECT channel, sum(amount) AS revenue, sum(amount) / sum(sum(amount)) OVER () AS share FROM orders GROUP BY channel;

-- name: growth from month to month
-- reads: orders
-- expect: answered
WITH m AS (SELECT date_trunc('month', ordered_at) AS month, sum(amount) AS revenue FROM orders GROUP BY 1)
SELECT month, revenue, revenue / lag(revenue) OVER (ORDER BY month) - 1 AS growth FROM m ORDER BY month;

-- name: commonest channel of a store
-- reads: orders
-- expect: answered
SELECT store, mode() WITHIN GROUP (ORDER BY channel) AS usual_channel FROM orders GROUP BY store;

-- name: correlation of items and amount
-- reads: orders
-- expect: answered
SELECT corr(items, amount) FROM orders WHERE status = 'paid';

-- name: any return in a store
-- reads: orders
-- expect: answered
SELECT store, bool_or(returned) AS any_return FROM orders GROUP BY store;

-- name: customers by segment
-- reads: customers
-- expect: answered
SELECT segment, count(*) AS customers, avg(newsletter::int) AS subscribed FROM customers GROUP BY segment;

-- name: revenue by segment
-- reads: customers, orders
-- expect: answered
SELECT c.segment, sum(o.amount) AS revenue, count(DISTINCT o.customer_id) AS customers FROM orders o JOIN customers c ON c.customer_id = o.customer_id GROUP BY c.segment;

-- name: revenue by age of the customer
-- reads: customers, orders
-- expect: answered
SELECT CASE WHEN c.birth_date < '1965-01-01' THEN 'older' WHEN c.birth_date < '1985-01-01' THEN 'middle' ELSE 'younger' END AS age, avg(o.amount) AS aov
FROM orders o JOIN customers c ON c.customer_id = o.customer_id GROUP BY 1;

-- name: mean age of customers
-- reads: customers
-- expect: answered
SELECT segment, avg(extract(year from age(timestamp '2024-12-31', birth_date))) AS mean_age FROM customers GROUP BY segment;

-- name: days from signup to order
-- reads: customers, orders
-- expect: may be refused: what is joined repeats and would weigh people
SELECT c.segment, avg(o.ordered_at::date - c.signup) AS days FROM orders o JOIN customers c ON c.customer_id = o.customer_id GROUP BY c.segment;

-- name: customers with and without orders
-- reads: customers, orders
-- expect: answered
SELECT c.segment, count(DISTINCT c.customer_id) AS customers, count(DISTINCT o.customer_id) AS buyers FROM customers c LEFT JOIN orders o ON o.customer_id = c.customer_id GROUP BY c.segment;

-- name: customers who bought in a store
-- reads: customers, orders
-- expect: answered
SELECT segment, count(*) FROM customers WHERE customer_id IN (SELECT customer_id FROM orders WHERE channel = 'store') GROUP BY segment;

-- name: best customers
-- reads: orders
-- expect: may be refused: they are single people
SELECT customer_id, sum(amount) AS total FROM orders GROUP BY customer_id ORDER BY total DESC LIMIT 10;

-- name: first look at the table
-- reads: orders
-- expect: may be refused: they are single people
SELECT * FROM orders LIMIT 100;

-- name: signups by cohort
-- reads: customers
-- expect: answered
SELECT date_trunc('quarter', signup)::date AS cohort, segment, count(*) FROM customers GROUP BY 1, 2 ORDER BY 1, 2;

-- name: a chart with a time range
-- reads: orders
-- expect: answered
SELECT DATE_TRUNC('week', ordered_at) AS __timestamp, sum(amount) AS "SUM(amount)" FROM public.orders
WHERE ordered_at >= TO_TIMESTAMP('2022-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND ordered_at < TO_TIMESTAMP('2022-12-31 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY DATE_TRUNC('week', ordered_at) LIMIT 50000;

-- name: a chart by channel with a time range
-- reads: orders
-- expect: answered
SELECT channel AS channel, COUNT(*) AS count FROM public.orders
WHERE ordered_at >= TO_TIMESTAMP('2022-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND ordered_at < TO_TIMESTAMP('2023-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY channel ORDER BY count DESC LIMIT 50000;

-- name: a chart of the best stores over time
-- reads: orders
-- expect: answered
SELECT date_trunc('quarter', ordered_at) AS __timestamp, orders.store AS store, sum(amount) AS total
FROM orders JOIN (SELECT store AS store__, sum(amount) AS mme_inner__ FROM orders GROUP BY store ORDER BY mme_inner__ DESC LIMIT 3) AS series_limit ON orders.store = series_limit.store__
GROUP BY date_trunc('quarter', ordered_at), orders.store;

-- name: a panel with a time filter and group
-- reads: orders
-- expect: answered
SELECT floor(extract(epoch from ordered_at)/604800)*604800 AS "time", sum(amount) AS "revenue"
FROM orders WHERE ordered_at BETWEEN '2022-01-06T00:00:00Z' AND '2024-12-18T23:59:59Z' GROUP BY time ORDER BY time;

-- name: a panel with an epoch filter
-- reads: orders
-- expect: answered
SELECT channel AS metric, count(*) AS value FROM orders WHERE extract(epoch from ordered_at) >= 1641038400 AND extract(epoch from ordered_at) <= 1703980799 GROUP BY 1 ORDER BY 1;

-- name: a card with a relative date
-- reads: orders
-- expect: answered
SELECT COUNT(*) AS "count" FROM "public"."orders" WHERE ("public"."orders"."ordered_at" >= timestamp with time zone '2023-01-01 00:00:00.000Z') AND ("public"."orders"."ordered_at" < timestamp with time zone '2024-01-01 00:00:00.000Z') AND ("public"."orders"."status" <> 'cancelled' OR "public"."orders"."status" IS NULL);

-- name: a sheet of a workbook
-- reads: orders
-- expect: answered
SELECT "orders"."channel" AS "channel", SUM("orders"."amount") AS "sum:amount:ok", DATE_TRUNC( 'MONTH', CAST("orders"."ordered_at" AS TIMESTAMP WITHOUT TIME ZONE) ) AS "tmn:ordered_at:ok"
FROM "public"."orders" "orders" WHERE ("orders"."status" IN ('paid', 'shipped')) GROUP BY 1, 3;

-- name: a sheet with an average of a whole number
-- reads: orders
-- expect: answered
SELECT "orders"."store" AS "store", AVG(CAST("orders"."items" AS DOUBLE PRECISION)) AS "avg:items:ok", COUNT(DISTINCT "orders"."customer_id") AS "ctd:customer_id:ok"
FROM "public"."orders" "orders" GROUP BY 1 HAVING (COUNT(1) > 0);

-- name: an explore with fetch
-- reads: orders
-- expect: answered
SELECT orders.status AS "orders.status", COUNT(*) AS "orders.count" FROM public.orders AS orders WHERE ((( orders.ordered_at ) >= ((TIMESTAMP '2023-01-01')) AND ( orders.ordered_at ) < ((TIMESTAMP '2024-01-01')))) GROUP BY 1 ORDER BY 2 DESC FETCH NEXT 500 ROWS ONLY;

-- name: a model of layers
-- reads: customers, orders
-- expect: answered
with source as (select * from public.orders),
renamed as (select order_id, customer_id, ordered_at as created_at, amount as order_total, status as order_status from source),
people as (select customer_id, segment from public.customers),
final as (
    select p.segment, date_trunc('year', r.created_at) as year, sum(r.order_total) as revenue, count(*) as orders
    from renamed r inner join people p on p.customer_id = r.customer_id
    where r.order_status != 'cancelled'
    group by 1, 2
)
select * from final order by segment, year;

-- name: values of a filter
-- reads: orders
-- expect: answered
SELECT "public"."orders"."status" AS "status" FROM "public"."orders" GROUP BY "public"."orders"."status" ORDER BY "public"."orders"."status" ASC LIMIT 1000;

-- name: histogram of amounts
-- reads: orders
-- expect: answered
SELECT round(amount / 50) * 50 AS bin, count(*) AS orders FROM orders GROUP BY bin ORDER BY bin;

-- name: union of channels
-- reads: orders
-- expect: answered
SELECT 'online' AS kind, sum(amount) FROM orders WHERE channel IN ('web', 'app') UNION ALL SELECT 'store', sum(amount) FROM orders WHERE channel = 'store';

-- name: customers by week of signup
-- reads: customers
-- expect: answered
SELECT date_trunc('year', signup)::date AS year, count(*) FILTER (WHERE newsletter) * 1.0 / count(*) AS subscribed FROM customers GROUP BY 1;
