/// <reference path="../../../sdk/js/index.d.ts" />

/** An order as it is stored. */
export interface Order {
  item: string;
  number: number;
  price: number;
}

/** The content of the store orderHistory. */
export interface History {
  orders: Order[];
}

/** What the tool is asked: to add an order where item and price are given, and to answer with them all. */
export interface Input {
  item?: string;
  price?: number;
}

/** What the tool answers. */
export interface Summary {
  orders: Order[];
  total: string;
}
