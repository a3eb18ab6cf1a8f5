import { total } from './total';
import type { History, Input, Order, Summary } from './types';

/** The number of orders to keep. The oldest are dropped first. */
const MOST_ORDERS = 50;

export default async function (input: Input): Promise<Summary> {
  const history = await memory.get_content<History>('orderHistory');
  let orders = history?.orders ?? [];
  if (input.item !== undefined && input.price !== undefined) {
    orders = [...orders, next(orders, input.item, input.price)].slice(-MOST_ORDERS);
    // A merge replaces the whole array, so the value contains all orders.
    await memory.set_content('orderHistory', { orders });
  }
  return { orders, total: total(orders, env.CURRENCY) };
}

function next(orders: Order[], item: string, price: number): Order {
  const last = orders.at(-1);
  return { item, number: (last?.number ?? 0) + 1, price };
}
