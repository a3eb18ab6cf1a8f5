// Answers which features are on for the caller. The store is written by an operator, and the tool is granted
// to read it only.
async function execute(input, context) {
  const flags = (await memory.get_content('featureFlags')) ?? {};
  const enabled = Object.keys(flags).filter((name) => isOn(name, flags[name].rollout, context.userId));
  return { enabled: enabled.sort() };
}

function isOn(name, rollout, user) {
  if (rollout === 100) return true;
  return user !== null && bucket(`${name}:${user}`) < rollout;
}

// bucket puts a text into one of 100 buckets (FNV-1a), always the same one: a user who has a feature keeps it
// while its rollout grows. Each flag spreads the users anew.
function bucket(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0) % 100;
}
