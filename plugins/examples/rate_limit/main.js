// Limits the number of calls that a user can make in a time window. The record expires at the end
// of the window.
async function execute(input, context) {
  const limit = Number(context.env.CALLS);
  const length = Number(context.env.WINDOW_MINUTES) * 60_000;
  const now = Date.now();
  try {
    let usage = await memory.get_content('apiUsage');
    if (!usage || usage.endsAt <= now) {
      usage = { used: 0, endsAt: now + length };
    }
    const left = usage.endsAt - now;
    if (usage.used >= limit) {
      return { allowed: false, reason: 'limit', retry_after_minutes: Math.ceil(left / 60_000) };
    }
    await memory.set_content('apiUsage', { ...usage, used: usage.used + 1 }, { ttl: `${Math.ceil(left / 1000)}s` });
    return { allowed: true, remaining: limit - usage.used - 1 };
  } catch (error) {
    // The caller is anonymous, so calls cannot be counted for a user. Such a call is a normal
    // result, not an error.
    if (error.code === 'no_user') return { allowed: false, reason: 'no_user' };
    throw error;
  }
}
