// Reads an account from a fixed list, and adds up the wires that the user has sent.
const accounts = {
  checking: { status: 'active', verified: true, balance: 5000, limit: 3000 },
  savings: { status: 'active', verified: false, balance: 90000, limit: 20000 },
  closed: { status: 'closed', verified: true, balance: 0, limit: 0 },
};
const account = accounts[$account];
if (!account) throw new Error(`the account ${$account} does not exist`);
const sent = (await memory.get_content('wires'))?.sent ?? [];
return { ...account, used: sent.reduce((sum, wire) => sum + wire.amount, 0), code: '4711' };
