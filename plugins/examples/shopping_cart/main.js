// This file is a module, and its exported function is the tool. The cart belongs to the session and
// is removed when the session ends.
export default async function ({ action, sku, price, quantity = 1 }) {
  const cart = await memory.get_content('shoppingCart');
  const items = { ...cart?.items };
  if (action === 'add') {
    items[sku] = { price, quantity: quantity + (items[sku]?.quantity ?? 0) };
    await memory.set_content('shoppingCart', { items: { [sku]: items[sku] } });
  }
  if (action === 'remove') {
    delete items[sku];
    // In a merge, null removes a member.
    await memory.set_content('shoppingCart', { items: { [sku]: null } });
  }
  return { items, total: total(items) };
}

function total(items) {
  let cents = 0;
  for (const { price, quantity } of Object.values(items)) {
    cents += Math.round(price * 100) * quantity;
  }
  return cents / 100;
}
