// Reads lists page after page, as a part of client.mjs.
import { ToolrunError } from './transport.mjs';

/** Yields the items of all pages of a list. The function page returns the page after a position. */
export async function* pages(page, after) {
  for (let next = after; ;) {
    const list = await page(next);
    yield* list.items;
    if (!list.next) {
      return;
    }
    if (list.next === next) {
      throw new ToolrunError('the service returned the same page twice', { code: 'unavailable' });
    }
    next = list.next;
  }
}
