// Adds a wire to the list of the user. The id of a wire is its number.
const sent = (await memory.get_content('wires'))?.sent ?? [];
const wire = { id: `W${sent.length + 1}`, amount: $amount, beneficiary: $beneficiary };
await memory.set_content('wires', { sent: [...sent, wire] });
return wire;
