// The platform hands over what it knows of the user as the session's metadata; a tool may read it only. The
// projection asks for two fields of it.
const meta = await memory.get_content('sessionMeta', { 'metadata.userName': 1, 'metadata.customerTier': 1 });
const { userName, customerTier } = meta?.metadata ?? {};

const thanks = customerTier === 'gold' ? ' Thank you for being a gold customer.' : '';
return { greeting: `Hello ${userName ?? 'there'}!${thanks}` };
