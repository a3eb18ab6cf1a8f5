/// <reference path="../../../sdk/js/index.d.ts" />

/** A stored order. */
export interface Order {
  item: string;
  number: number;
  price: number;
}

/** The content of the store orderHistory. */
export interface History {
  orders: Order[];
}

/** The input of the tool. With item and price, the tool adds an order. */
export interface Input {
  item?: string;
  price?: number;
}

/** The output of the tool: all orders and their total. */
export interface Summary {
  orders: Order[];
  total: string;
}
