import currency from 'currency.js';
import type { Order } from './types';

/** Adds up the prices, without the rounding errors of plain numbers: 0.1 + 0.2 is 0.30. */
export function total(orders: Order[], symbol: string): string {
  return orders.reduce((sum, order) => sum.add(order.price), currency(0, { symbol })).format();
}
