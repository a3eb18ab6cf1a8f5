// Returns the features that are enabled for the caller. An operator writes the store. The tool can
// only read it.
async function execute(input, context) {
  const flags = (await memory.get_content('featureFlags')) ?? {};
  const enabled = Object.keys(flags).filter((name) => isOn(name, flags[name].rollout, context.userId));
  return { enabled: enabled.sort() };
}

function isOn(name, rollout, user) {
  if (rollout === 100) return true;
  return user !== null && bucket(`${name}:${user}`) < rollout;
}

// bucket maps a text to one of 100 buckets (FNV-1a). The result never changes, so a user keeps a
// feature while its rollout grows. Each flag distributes the users differently.
function bucket(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0) % 100;
}
