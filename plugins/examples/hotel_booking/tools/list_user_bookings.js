const reservations = await memory.get_content('reservations');
return { bookings: reservations?.rooms ?? [] };
